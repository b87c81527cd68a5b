"""What every mask publishes is what the oracle says, on a thousand values of every type."""

from __future__ import annotations

import datetime as dt
import math
import statistics
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.engines.base import Limits
from anonymizer.errors import SourceError
from tests.masking.runs import KEPT, key_file, named, of_types, read, released
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
    table,
)
from tests.oracle.masks import (
    UTC,
    Single,
    coded,
    cut_off,
    form_of,
    found_limit,
    rounded,
    text_of,
    token,
)
from tests.runs import policy, published, run
from tests.selection import some

SIZE = 1000
OPEN = {"acknowledge_unique": True}
TEXT = "cast({} as varchar)"


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


@pytest.mark.slow
def test_a_key_that_is_forgotten_gives_other_tokens_in_every_run(tmp_path: Path) -> None:
    columns = of_types(TYPES, 100, Random(12))
    roles = {name: {"role": "token"} for name in columns}
    first, again, other = (released(tmp_path, columns, roles, seed=seed) for seed in (1, 1, 2))
    for name, (_, values) in columns.items():
        tokens = {text_of(v): t for v, t in zip(values, first[name], strict=True) if t is not None}
        assert first[name] == again[name]
        assert not set(tokens.values()) & set(other[name])


def test_columns_with_one_key_have_the_same_tokens(tmp_path: Path) -> None:
    values = column("VARCHAR", 200, Random(13))
    columns = dict.fromkeys(("a", "b", "c"), ("VARCHAR", values))
    key_file(tmp_path, "one.key")
    key_file(tmp_path, "two.key")
    role = {"role": "token", "key_file": "one.key"}
    other = {"role": "token", "key_file": "two.key"}
    shown = released(tmp_path, columns, {"a": role, "b": role, "c": other})
    assert shown["a"] == shown["b"]
    assert not (set(shown["a"]) & set(shown["c"])) - {None}


def plates(dice: Random) -> str:
    """Numbers like those of cars, members and contracts: long enough that few are ever used."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    form = dice.choice(
        ["AA-AA 0000000", "aAa.000/000-000", "00000000000000", "aaaaaaaaaaaaaaaaaaa"]
    )
    made = {"A": letters, "a": letters.lower(), "0": "0123456789"}
    return "".join(dice.choice(made.get(sign, sign)) for sign in form)


@pytest.mark.slow
def test_tokens_like_their_values(tmp_path: Path) -> None:
    dice = Random(14)
    values = [None if dice.random() < 0.05 else plates(dice) for _ in range(SIZE)]
    values[::7] = values[1::7][: len(values[::7])] + values[:1] * (
        len(values[::7]) - len(values[1::7])
    )
    columns = {"m": ("VARCHAR", values)}
    key = key_file(tmp_path)
    role = {"role": "token", "format": "like", "key_file": "tokens.key"}
    (shown,) = released(tmp_path, columns, {"m": role}).values()
    pairs = set(zip(values, shown, strict=True))
    assert all((v is None) == (t is None) for v, t in pairs)
    assert len({v for v, _ in pairs}) == len({t for _, t in pairs}) == len(pairs)
    assert all(form_of(v) == form_of(t) for v, t in pairs if v is not None)
    assert not {v for v, _ in pairs if v} & {t for _, t in pairs}
    (again,) = released(tmp_path, columns, {"m": role}, seed=2, order=hash).values()
    assert again == shown
    key_file(tmp_path, key=bytes(byte ^ 1 for byte in key))
    (other,) = released(tmp_path, columns, {"m": role}).values()
    assert sum(a == b for a, b in zip(other, shown, strict=True) if a) < 5


@some(1)
@pytest.mark.parametrize("kind", ["BIGINT", "DATE", "UUID"])
def test_numbers_dates_and_uuids_have_tokens_like_them(tmp_path: Path, kind: str) -> None:
    values = [
        v for v in column(kind, 400, Random(15)) if kind != "BIGINT" or v is None or v > 10**9
    ]
    columns = {"m": (kind, values)}
    role = {"role": "token", "format": "like"}
    (shown,) = released(tmp_path, columns, {"m": role}).values()
    for value, made in zip(values, shown, strict=True):
        assert value is None or form_of(text_of(value)) == form_of(made)


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


def test_rows_are_shifted_alike_by_another_column(tmp_path: Path) -> None:
    dice = Random(22)
    columns = {
        "seen": ("DATE", column("DATE", SIZE, dice)),
        "left": ("DATE", column("DATE", SIZE, dice)),
    }
    houses = [dice.choice([None, *range(40)]) for _ in range(SIZE)]
    role = {"role": "shift", "within": 8, "per": "house"}
    whole = {**columns, "house": ("SMALLINT", houses)}
    shown = released(tmp_path, whole, {"seen": role, "left": role})
    drawn: dict[Any, set[dt.timedelta]] = {}
    for name in columns:
        for house, value, made in zip(houses, columns[name][1], shown[name], strict=True):
            if value is not None:
                drawn.setdefault(house, set()).add(made - value)
    assert all(len(days) == 1 for days in drawn.values())
    assert {abs(day).days for (day,) in drawn.values()} <= set(range(1, 9))


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


# TIMESTAMP_S, TIMESTAMP_MS and TIMESTAMP_NS are read from text by way of TIMESTAMP
@pytest.mark.parametrize("kind", [kind for kind in DATES if not kind.startswith("TIMESTAMP_")])
def test_infinite_dates_stay_and_the_ends_of_time_are_refused_or_kept(
    tmp_path: Path, kind: str
) -> None:
    values: list[Any] = ["infinity", "-infinity", None, dt.date(2020, 5, 17)] * 3
    persons = ["a", "b", "c"] * 4
    role = {"role": "shift", "within": 20}
    shown = released(
        tmp_path, {"m": (kind, values)}, {"m": role}, persons=persons, shown=TEXT, seed=3
    )["m"]
    assert [one for one in shown if one and "inf" in one] == ["infinity", "-infinity"] * 3
    assert shown.count(None) == 3


@pytest.mark.slow
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu"])
def test_the_time_zone_of_a_session_changes_nothing(tmp_path: Path, zone: str) -> None:
    dice = Random(24)
    kind = "TIMESTAMP WITH TIME ZONE"
    given = {
        "a": {"role": "shift", "within": 300, "per": "house"},
        "b": {"role": "round", "to": "month"},
        "c": {"role": "top_code", "at": "1990-05-05", "acknowledge_unique": True},
        "d": {"role": "token", "key_file": "tokens.key"},
        "house": "drop",
        "q": "quasi",
        "id": KEPT,
    }
    columns = {name: (kind, column(kind, SIZE, dice)) for name in "abcd"}
    houses = [n % 20 for n in range(SIZE)]
    numbers = list(range(SIZE))
    database = table(
        tmp_path,
        {
            **columns,
            "house": ("INTEGER", houses),
            "q": ("INTEGER", houses),
            "id": ("INTEGER", numbers),
        },
    )
    key_file(tmp_path)
    made = []
    asked = policy(tmp_path, given, publish={"name": "masked"})
    for of_session in ("UTC", zone):
        with duckdb.connect(str(database), config={"threads": 1}) as connection:
            connection.execute(f"set TimeZone = '{of_session}'")
            run(asked, connection)
        assert anonymizer.verify(asked).passed
        made.append(read(tmp_path, "abcd", TEXT))
    assert made[0] == made[1]
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as connection:
        connection.execute(f"set TimeZone = '{zone}'")
        assert anonymizer.verify(asked, connection).passed


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

STEPS: dict[str, Any] = {"whole": 5, "decimal": "0.05", "real": 0.1}


def step_of(kind: str) -> Any:
    if kind in WHOLE:
        return 7 if kind.endswith("TINYINT") else 50
    if kind in DECIMALS:
        return float(Decimal(5).scaleb(-DECIMALS[kind][1])) if DECIMALS[kind][1] < 6 else 0.000005
    return 0.25


@some(2, 5)
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
@some(1, 5)
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
@pytest.mark.parametrize("kind", ["INTEGER", "DECIMAL(9,2)", "DOUBLE", "HUGEINT"])
def test_random_rounding_keeps_the_mean(tmp_path: Path, kind: str) -> None:
    dice = Random(43)
    values: list[Any] = [dice.randint(0, 1000) for _ in range(4 * SIZE)]
    if kind == "DECIMAL(9,2)":
        values = [Decimal(v) / 4 for v in values]
    role = {**OPEN, "role": "round", "to": 10, "method": "random"}
    (shown,) = released(tmp_path, {"m": (kind, values)}, {"m": role}).values()
    moved = [float(made) - float(value) for made, value in zip(shown, values, strict=True)]
    assert all(abs(one) < 10 for one in moved)
    assert all(made % 10 == 0 for made in shown)
    assert abs(statistics.fmean(moved)) < 4 * statistics.pstdev(moved) / math.sqrt(len(moved))
    assert statistics.pstdev(moved) > 3


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


def test_the_last_nanosecond_of_a_year_is_not_rounded_into_the_next(tmp_path: Path) -> None:
    values = ["1999-12-31 23:59:59.999999999", "1969-12-31 23:59:59.999999999"]
    role = {**OPEN, "role": "round", "to": "year"}
    shown = released(tmp_path, {"m": ("TIMESTAMP_NS", values)}, {"m": role}, shown=TEXT)["m"]
    assert shown == ["1999-01-01 00:00:00", "1969-01-01 00:00:00"]


# noise -----------------------------------------------------------------------------------------


def fitting(kind: str) -> list[dict[str, float]]:
    """The noise of the test whose amount is a value of the type."""
    share: dict[str, float] = {"share": 0.1}
    whole: dict[str, float] = {"amount": 3}
    part = {"amount": 0.05}
    if kind in WHOLE or kind == "DECIMAL(4,0)" or kind == "DECIMAL(38,0)":
        return [share, whole]
    return [share, part] if kind in ("DECIMAL(18,18)", "DECIMAL(38,38)") else [share, whole, part]


@some(1, 5)
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


def test_rows_that_are_equal_have_draws_of_their_own(tmp_path: Path) -> None:

    database = table(tmp_path, {"q": ("INTEGER", [1] * 500), "m": ("DOUBLE", [50.0] * 500)})
    given = {"q": "quasi", "m": {"role": "noise", "amount": 5, "between": [0, 100]}}
    rows = published(run(policy(tmp_path, given), database))
    assert len({row["m"] for row in rows}) == 500


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


def test_identifiers_after_a_new_line_are_replaced_and_lines_stay(tmp_path: Path) -> None:
    values = ["one\nann@example.org\r\nhttps://example.org/x\nthree", "\na@example.org\n"] * 10
    (shown,) = released(tmp_path, {"m": ("VARCHAR", values)}, {"m": {"role": "redact"}}).values()
    assert shown == ["one\n[mail]\r\n[url]\nthree", "\n[mail]\n"] * 10


@pytest.mark.slow
def test_only_the_patterns_that_are_named_are_replaced(tmp_path: Path) -> None:
    values = ["ann@example.org and +49 30 901820", "192.168.0.17,192.168.0.18,192.168.0.19"] * 10
    role = {"role": "redact", "patterns": ["mail", "ip"], "acknowledge": ["phone"]}
    (shown,) = released(tmp_path, {"m": ("VARCHAR", values)}, {"m": role}).values()
    assert shown == ["[mail] and +49 30 901820", "[ip],[ip],[ip]"] * 10


@some(1)
@pytest.mark.parametrize("value", [None, "removed", "", "Zoë 🙂 'x'", 7, -1.5, True, "2020-01-01"])
def test_null_and_constants(tmp_path: Path, value: Any) -> None:
    columns = of_types(TYPES, 60, Random(71))
    role = {"role": "null"} if value is None else {"role": "constant", "value": value}
    shown = released(tmp_path, columns, dict.fromkeys(columns, role))
    assert all(one == value and type(one) is type(value) for name in shown for one in shown[name])
