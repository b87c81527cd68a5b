"""What every mask publishes is what the oracle says, on a thousand values of every type."""

from __future__ import annotations

import datetime as dt
import math
import statistics
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from anonymizer.engines.base import Limits
from anonymizer.errors import SourceError
from tests.masking.runs import key_file, named, of_types, released
from tests.masking.values import (
    DATES,
    DECIMALS,
    INSTANTS,
    NUMBERS,
    REALS,
    TYPES,
    WHOLE,
    column,
    ends,
)
from tests.oracle.masks import (
    UTC,
    Single,
    coded,
    cut_off,
    found_limit,
    rounded,
    text_of,
    token,
)
from tests.selection import some

SIZE = 1000
OPEN = {"acknowledge_unique": True}


def same(shown: Any, expected: Any) -> bool:
    """Whether a published value is the expected one; NaN is itself, and so is -0.0."""
    if isinstance(expected, float) and isinstance(shown, float):
        return repr(shown) == repr(float(expected)) or shown == expected
    return bool(shown == expected) and (shown is None) == (expected is None)


def differing(shown: list[Any], expected: list[Any]) -> list[tuple[Any, Any]]:
    pairs = zip(shown, expected, strict=True)
    return [(one, other) for one, other in pairs if not same(one, other)][:5]


def plain(value: Any) -> Any:
    """A value as the driver returns it: instants in UTC and without a zone."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return float(value) if isinstance(value, Single) else value


def instants(sql_type: str) -> str:
    return "cast({} as timestamp)" if sql_type in INSTANTS else "{}"


# tokens ----------------------------------------------------------------------------------------


@some(0)
@pytest.mark.parametrize("form", ["hex", "uuid", "number"])
def test_tokens_are_those_of_the_oracle(tmp_path: Path, form: str) -> None:
    columns = of_types(TYPES, SIZE, Random(11))
    key = key_file(tmp_path)
    role = {"role": "token", "format": form, "key_file": "tokens.key"}
    shown = released(tmp_path, columns, dict.fromkeys(columns, role))
    for name, (kind, values) in columns.items():
        assert not differing(shown[name], [token(v, key, form) for v in values]), kind


@pytest.mark.parametrize("value", ["Zoë", "a\nb", "🙂", "naïve"])
def test_letters_that_no_token_could_have_are_refused(tmp_path: Path, value: str) -> None:
    columns = {"m": ("VARCHAR", [value] * 10)}
    with pytest.raises(SourceError) as raised:
        released(tmp_path, columns, {"m": {"role": "token", "format": "like"}})
    (problem,) = raised.value.problems
    assert problem.path == "columns.m.format"
    assert value not in str(raised.value)


# shifts ----------------------------------------------------------------------------------------


DAY = 86_400_000_000


def since_1970(value: dt.date) -> int:
    """Microseconds since 1970, in UTC."""
    if not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    span: dt.timedelta = plain(value) - dt.datetime(1970, 1, 1)
    return span // dt.timedelta(microseconds=1)


@some(1)
@pytest.mark.parametrize("keep", [[], ["weekday"], ["order"], ["weekday", "order"]])
def test_shifts(tmp_path: Path, keep: list[str]) -> None:
    dice = Random(21)
    persons = [f"p{dice.randrange(200)}" for _ in range(SIZE)]
    columns = of_types(DATES, SIZE, dice)
    role = {"role": "shift", "within": "30 days", "keep": keep}
    roles = dict.fromkeys(columns, role)
    shown = released(
        tmp_path, columns, roles, persons=persons, shown="epoch_us(cast({} as timestamp))"
    )
    drawn: dict[str, set[int]] = {}
    for name, (_, values) in columns.items():
        for who, value, made in zip(persons, values, shown[name], strict=True):
            assert (value is None) == (made is None)
            if value is None:
                continue
            days, rest = divmod(made - since_1970(value), DAY)
            assert rest == 0
            drawn.setdefault(who, set()).add(days)
    assert all(len(days) == 1 for days in drawn.values())
    every = {day for days in drawn.values() for day in days}
    assert all(1 <= abs(day) <= 30 for day in every)
    if "weekday" in keep:
        assert every == {7 * week for week in range(-4, 5)} - {0}
    else:
        assert len(every) > 45


@pytest.mark.slow
def test_shifts_last_with_a_key_file(tmp_path: Path) -> None:
    columns = {"m": ("DATE", column("DATE", 200, Random(23)))}
    persons = [f"p{n % 50}" for n in range(200)]
    key_file(tmp_path)
    lasting = {"m": {"role": "shift", "within": "1000 days", "key_file": "tokens.key"}}
    forgotten = {"m": {"role": "shift", "within": "1000 days"}}
    first, again = (released(tmp_path, columns, lasting, persons=persons, seed=s) for s in (1, 2))
    assert first == again
    one, two = (released(tmp_path, columns, forgotten, persons=persons, seed=s) for s in (1, 2))
    assert one != first
    assert one != two


# codes -----------------------------------------------------------------------------------------


def middle(kind: str, values: list[Any]) -> Any:
    """A value somewhere between the others, of few digits."""
    if kind in DATES:
        return sorted(v for v in values if v is not None)[SIZE // 3]
    if kind in DECIMALS:
        return Decimal(3).scaleb(-min(3, DECIMALS[kind][1]))
    return 37 if kind in WHOLE else 12.5


def as_policy(value: Any) -> Any:
    """A value as a policy writes it."""
    if isinstance(value, int | float):
        return value
    return float(value) if isinstance(value, Decimal) else text_of(value)


@pytest.mark.slow
@pytest.mark.parametrize("role", ["top_code", "bottom_code"])
def test_codes_that_are_given(tmp_path: Path, role: str) -> None:
    dice, top = Random(31), role == "top_code"
    columns = of_types((*NUMBERS, *DATES), SIZE, dice)
    chosen = {name: middle(kind, values) for name, (kind, values) in columns.items()}
    for dates in (False, True):
        some = {n: c for n, c in columns.items() if (c[0] in INSTANTS) == dates}
        roles = {n: {"role": role, "at": as_policy(chosen[n]), **OPEN} for n in some}
        shown = released(tmp_path, some, roles, shown=instants("TIMESTAMP") if dates else "{}")
        for name, (kind, values) in some.items():
            expected = [plain(coded(v, chosen[name], top=top)) for v in values]
            assert not differing(shown[name], expected), kind


@some(0)
@pytest.mark.parametrize("persons", [False, True])
@pytest.mark.parametrize("role", ["top_code", "bottom_code"])
def test_codes_that_are_found(tmp_path: Path, role: str, persons: bool) -> None:
    dice, top = Random(32), role == "top_code"
    columns = {
        name: (kind, column(kind, SIZE, dice))
        for name, kind in named((*WHOLE, *DECIMALS, "DATE")).items()
    }
    who = [f"p{dice.randrange(300)}" for _ in range(SIZE)] if persons else None
    units = who or [str(n) for n in range(SIZE)]
    roles = {name: {"role": role, "at_least": 20, **OPEN} for name in columns}
    shown = released(tmp_path, columns, roles, persons=who)
    for name, (kind, values) in columns.items():
        limit = found_limit(list(zip(units, values, strict=True)), 20, top=top)
        assert not differing(shown[name], [coded(v, limit, top=top) for v in values]), kind
        at = {unit for unit, made in zip(units, shown[name], strict=True) if made == limit}
        assert len(at) >= 20


# rounding --------------------------------------------------------------------------------------


def step_of(kind: str) -> Any:
    if kind in WHOLE:
        return 7 if kind.endswith("TINYINT") else 50
    if kind in DECIMALS:
        return float(Decimal(5).scaleb(-DECIMALS[kind][1])) if DECIMALS[kind][1] < 6 else 0.000005
    return 0.25


@some(2, 6)
@pytest.mark.parametrize("method", ["nearest", "down"])
@pytest.mark.parametrize("kind", [*WHOLE, *DECIMALS])
def test_exact_numbers_are_rounded(tmp_path: Path, kind: str, method: str) -> None:
    values = column(kind, SIZE, Random(41))
    step = step_of(kind)
    role = {**OPEN, "role": "round", "to": step, "method": method}
    (shown,) = released(tmp_path, {"m": (kind, values)}, {"m": role}).values()
    least, most = ends(kind)
    expected = [
        None if v is None else rounded(v, Decimal(str(step)), method, least, most) for v in values
    ]
    assert not differing([None if v is None else Decimal(v) for v in shown], expected)


@pytest.mark.slow
@some(1, 7)
@pytest.mark.parametrize("method", ["nearest", "down", "random"])
@pytest.mark.parametrize("step", [0.25, 0.1, 1, 1000, 1e-9])
@pytest.mark.parametrize("kind", REALS)
def test_reals_are_rounded(tmp_path: Path, kind: str, step: float, method: str) -> None:
    values = column(kind, SIZE, Random(42))
    role = {**OPEN, "role": "round", "to": step, "method": method}
    (shown,) = released(tmp_path, {"m": (kind, values)}, {"m": role}).values()
    for value, made in zip(values, shown, strict=True):
        assert (value is None) == (made is None)
        if value is None:
            continue
        if not math.isfinite(value):
            assert same(made, value)
            continue
        # what the type cannot tell apart
        blur = max(abs(value), step) * (2**-22 if kind == "FLOAT" else 2**-50)
        assert abs(made - value) <= step / (2 if method == "nearest" else 1) + blur
        assert method != "down" or made <= value + blur
        if abs(made) / step < 2**50:
            assert abs(made - round(made / step) * step) <= blur


@some(1)
@pytest.mark.parametrize("unit", ["year", "quarter", "month", "week", "day", "hour"])
def test_dates_are_cut_off(tmp_path: Path, unit: str) -> None:
    columns = of_types(
        [kind for kind in DATES if (kind, unit) != ("DATE", "hour")], SIZE, Random(44)
    )
    early = dt.date(1, 1, 8)
    for values in (values for _, values in columns.values()):
        # the week before is in the year 0, which Python does not know
        values[:] = [
            v if v is None or plain(v).timetuple()[:3] >= early.timetuple()[:3] else None
            for v in values
        ]
    role = {**OPEN, "role": "round", "to": unit}
    for dates in (False, True):
        some = {n: c for n, c in columns.items() if (c[0] in INSTANTS) == dates}
        shape = instants("TIMESTAMP") if dates else "{}"
        if not some:
            continue
        shown = released(tmp_path, some, dict.fromkeys(some, role), shown=shape)
        for name, (kind, values) in some.items():
            expected = [None if v is None else plain(cut_off(v, unit)) for v in values]
            assert not differing(shown[name], expected), kind


# noise -----------------------------------------------------------------------------------------


def fitting(kind: str) -> list[dict[str, float]]:
    """The noise of the test whose amount is a value of the type."""
    share: dict[str, float] = {"share": 0.1}
    whole: dict[str, float] = {"amount": 3}
    part = {"amount": 0.05}
    if kind in WHOLE or kind == "DECIMAL(4,0)" or kind == "DECIMAL(38,0)":
        return [share, whole]
    return [share, part] if kind in ("DECIMAL(18,18)", "DECIMAL(38,38)") else [share, whole, part]


@some(1, 8)
@pytest.mark.parametrize(
    ("kind", "how"), [(kind, how) for kind in NUMBERS for how in fitting(kind)]
)
def test_noise_is_bounded(tmp_path: Path, kind: str, how: dict[str, float]) -> None:
    values = column(kind, SIZE, Random(51))
    (shown,) = released(
        tmp_path, {"m": (kind, values)}, {"m": {**OPEN, "role": "noise", **how}}
    ).values()
    finite = [v for v in values if v is not None and (kind not in REALS or math.isfinite(v))]
    for value, made in zip(values, shown, strict=True):
        assert (value is None) == (made is None)
        if value is None:
            continue
        if kind in REALS and not math.isfinite(value):
            assert same(made, value)
            continue
        assert min(finite) <= made <= max(finite)
        reach = Decimal(how.get("amount", 0)) or Decimal("0.1") * abs(Decimal(value))
        blur = Decimal(abs(float(value))) * Decimal(2**-22 if kind == "FLOAT" else 2**-50)
        tick = Decimal(0) if kind in REALS else Decimal(1).scaleb(-DECIMALS.get(kind, (0, 0))[1])
        assert abs(Decimal(made) - Decimal(value)) <= reach + blur + tick


@some(1)
@pytest.mark.parametrize("kind", ["INTEGER", "DECIMAL(9,2)", "DOUBLE", "FLOAT", "HUGEINT"])
def test_noise_has_no_mean_and_stays_between(tmp_path: Path, kind: str) -> None:
    dice = Random(52)
    values = [dice.randint(200, 800) for _ in range(5 * SIZE)]
    role = {"role": "noise", "amount": 30, "between": [200, 800]}
    (shown,) = released(tmp_path, {"m": (kind, values)}, {"m": role}).values()
    inner = [
        float(made) - value
        for made, value in zip(shown, values, strict=True)
        if 230 <= value <= 770
    ]
    assert all(200 <= made <= 800 for made in shown)
    assert all(abs(one) <= 31 for one in inner)
    assert abs(statistics.fmean(inner)) < 4 * statistics.pstdev(inner) / math.sqrt(len(inner))
    assert statistics.pstdev(inner) == pytest.approx(30 / math.sqrt(3), rel=0.05)


ROLES: dict[str, tuple[str, Any]] = {
    "a": ("DOUBLE", {"role": "noise", "amount": 3, **OPEN}),
    "b": ("INTEGER", {"role": "round", "to": 10, "method": "random"}),
    "c": ("DATE", {"role": "shift", "within": 30, "per": "house"}),
    "d": ("VARCHAR", {"role": "token"}),
    "e": ("DECIMAL(9,2)", {"role": "noise", "share": 0.2, **OPEN}),
    "house": ("INTEGER", "drop"),
}


@pytest.mark.slow
@pytest.mark.parametrize("key", [None, "row"])
def test_draws_do_not_depend_on_threads_or_the_order_of_rows(
    tmp_path: Path, key: str | None
) -> None:
    columns = {name: (kind, column(kind, SIZE, Random(53))) for name, (kind, _) in ROLES.items()}
    roles = {name: role for name, (_, role) in ROLES.items() if name != "house"}
    rest = {"key": key} if key else {}
    columns["row"] = ("INTEGER", list(range(SIZE)))
    first = released(tmp_path, columns, roles, limits=Limits(threads=1), **rest)
    dice = Random(54)
    for threads in (1, 2, 4):
        shuffled = [dice.random() for _ in range(SIZE)]
        again = released(
            tmp_path,
            columns,
            roles,
            limits=Limits(threads=threads),
            order=shuffled.__getitem__,
            **rest,
        )
        assert all(map(same, again[name], first[name]) for name in roles)
        assert {n: [repr(v) for v in again[n]] for n in roles} == {
            n: [repr(v) for v in first[n]] for n in roles
        }
    other = released(tmp_path, columns, roles, seed=2, **rest)
    assert all(other[name] != first[name] for name in roles)


# redaction, null, constant -----------------------------------------------------------------------

PLANTED = {
    "mail": ["ann.lee@example.org", "x_1+y@mail.sub.example.co.uk"],
    "url": ["https://example.org/a?b=c", "http://10.0.0.1/x", "ftp://a.b/c"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
    "mac": ["00:1A:2b:3C:4d:5E"],
    "ip": ["192.168.0.17", "2001:db8:0:0:0:0:2:1"],
    "iban": ["DE89370400440532013000", "GB82 WEST 1234 5698 7654 32"],
    "card": ["4111 1111 1111 1111", "5500005555555559"],
    "ssn": ["536-22-8145"],
    "phone": ["+49 30 901820", "(415) 555-2671", "+4366412345678"],
    "national_id": ["529.982.247-25"],
}
FILLERS = [
    "",
    "Wörter",
    "🙂 Ok",
    "note: fine",
    "中文 text",
    "\nnew line\n",
    "'quoted' \"too\"",
    "\\1 \\2",
    "mg",
]


@pytest.mark.slow
def test_identifiers_in_text_are_replaced(tmp_path: Path) -> None:
    dice = Random(61)
    values: list[str | None] = []
    expected: list[str | None] = []
    for _ in range(SIZE):
        if dice.random() < 0.05:
            values.append(None)
            expected.append(None)
            continue
        text = made = dice.choice(FILLERS)
        for kind in dice.sample(sorted(PLANTED), dice.randint(0, 3)):
            after = " " + dice.choice(FILLERS)
            text += " " + dice.choice(PLANTED[kind]) + after
            made += f" [{kind}]" + after
        values.append(text)
        expected.append(made)
    (shown,) = released(tmp_path, {"m": ("VARCHAR", values)}, {"m": {"role": "redact"}}).values()
    assert not differing(shown, expected)


@some(1, 4)
@pytest.mark.parametrize("value", [None, "removed", "", "Zoë 🙂 'x'", 7, -1.5, True, "2020-01-01"])
def test_null_and_constants(tmp_path: Path, value: Any) -> None:
    columns = of_types(TYPES, 60, Random(71))
    role = {"role": "null"} if value is None else {"role": "constant", "value": value}
    shown = released(tmp_path, columns, dict.fromkeys(columns, role))
    assert all(one == value and type(one) is type(value) for name in shown for one in shown[name])
