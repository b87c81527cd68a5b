"""Bounds at a tie and next to it: search, both verifiers, dbt tests and macros agree.

Every figure of a small random table is asked for as the bound, exactly as a policy would write it,
one unit in the last place and 10^-10 above and below.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import duckdb
import pytest

from anonymizer.guarantees import diversity as entropy_l
from anonymizer.guarantees import rule as exact
from anonymizer.guarantees.guarantee import Example
from anonymizer.guarantees.requirements import BY_NAME
from anonymizer.independent import definitions, frequencies, rules
from anonymizer.independent.cells import read_value
from anonymizer.independent.layout import Requirement as Read
from anonymizer.independent.rules import Group
from anonymizer.verification import guarantees as verifier
from tests import models
from tests.dbt.rendered import generic_test
from tests.duckdb import test_descriptors as examples
from tests.macros.conftest import SCRIPT
from tests.selection import rounds

PATHS = {letter: ("x" if letter == "a" else "y", "*") for letter in "abcde"}
Figure = Callable[[examples.Rows], Any]


def _farthest(distance: str, rows: examples.Rows) -> Any:
    return models.t_closeness(rows.classes, distance, paths=PATHS).worst


FIGURES: dict[tuple[str, str, str], tuple[Figure, dict[str, Any]]] = {
    ("entropy_l", "l", ""): (lambda r: models.entropy_l(r.classes).worst, {}),
    ("recursive_cl", "c", ""): (lambda r: models.recursive_cl(r.classes, 2).worst, {"l": 2}),
    ("alpha", "alpha", ""): (lambda r: models.alpha(r.classes).worst, {}),
    ("alpha_k", "alpha", ""): (lambda r: models.alpha(r.classes).worst, {"k": 2}),
    ("beta_likeness", "beta", ""): (lambda r: models.beta_likeness(r.classes).worst, {}),
    ("delta_disclosure", "delta", ""): (
        lambda r: models.delta_disclosure(r.classes).worst,
        {},
    ),
    ("ir_alpha_beta", "alpha", ""): (
        lambda r: _shares(models.ir_alpha_beta, r, 0),
        {"beta": 1},
    ),
    ("ir_alpha_beta", "beta", ""): (
        lambda r: _shares(models.ir_alpha_beta, r, 1),
        {"alpha": 1},
    ),
    ("eir_alpha_beta", "alpha", ""): (
        lambda r: _shares(models.eir_alpha_beta, r, 0),
        {"beta": 1},
    ),
    ("eir_alpha_beta", "beta", ""): (
        lambda r: _shares(models.eir_alpha_beta, r, 1),
        {"alpha": 1},
    ),
    ("delta_presence", "max", ""): (lambda r: max(_presence(r)), {"min": 0, "population": "p"}),
    ("delta_presence", "min", ""): (lambda r: min(_presence(r)), {"max": 1, "population": "p"}),
}
for _distance in ("equal", "ordered", "hierarchical"):
    _figure = partial(_farthest, _distance)
    FIGURES["t_closeness", "t", _distance] = (_figure, {"distance": _distance})
LEAST = ("l", "min")
ENDS = {"l": (1.0, math.inf), "c": (0.0, math.inf), "beta_likeness": (0.0, math.inf)}


def _shares(model: Any, rows: examples.Rows, which: int) -> Any:
    return max(pair[which] for pair in model(rows.classes, rows.who).per_class.values())


def _presence(rows: examples.Rows) -> list[Fraction]:
    return [Fraction(len(values), rows.members[n]) for n, values in rows.classes.items()]


def drawn(draw: random.Random, *, nulls: bool) -> examples.Rows:
    """A table of few classes, in which persons have several rows."""
    letters = "abcde"[: draw.randint(2, 5)] + ("." if nulls and draw.random() < 0.3 else "")
    words = []
    for _ in range(draw.randint(1, 3)):
        if draw.random() < 0.4:  # equal shares, at which most figures are ties
            values = letters * draw.randint(1, 3)
        else:
            values = "".join(draw.choice(letters) for _ in range(draw.randint(2, 12)))
        words.append("".join(f"{draw.randint(0, 9)}{value}" for value in values))
    rows = examples.rows_of(" ".join(words))
    for number, values_of in rows.classes.items():
        rows.members[number] = len(values_of) + draw.randint(0, 6)
    return rows


def near(figure: float, low: float, high: float) -> Iterator[float]:
    around = (math.nextafter(figure, -math.inf), figure, math.nextafter(figure, math.inf))
    for bound in (figure - 1e-10, *around, figure + 1e-10):
        if low < bound <= high:
            yield bound


def by_reader(rows: examples.Rows, name: str, terms: dict[str, Any]) -> bool:
    """The second verifier's verdict, its parameters read as a manifest writes them."""
    given: dict[str, Any] = {
        key: Decimal(repr(value)) if isinstance(value, float) else value
        for key, value in terms.items()
        if key != "population"
    }
    if "paths" in given:
        given["paths"] = {value: list(nodes) for value, nodes in PATHS.items()}
    requirement = rules.Terms(Read(name, "value", given, "class"))
    if name == "delta_presence":
        low, high = requirement.number("min"), requirement.number("max")
        return all(definitions.within(low, share, high) for share in _presence(rows))
    ordered = terms.get("distance") == "ordered"
    sql_type = "INTEGER" if ordered else "VARCHAR"
    groups = tuple(
        Group(
            number,
            tuple(
                (who, None if value is None else read_value(_written(value, sql_type), sql_type))
                for who, value in zip(
                    rows.who[number] if name in definitions.OF_PERSONS else range(len(values)),
                    values,
                    strict=True,
                )
            ),
        )
        for number, values in rows.classes.items()
    )
    rule = definitions.OF_COLUMN[name](requirement, groups, sql_type)
    return all(rule.judge(group).holds for group in groups)


def _written(value: str, sql_type: str) -> str:
    return str(ord(value)) if sql_type == "INTEGER" else value


def by_dbt(connection: duckdb.DuckDBPyConnection, name: str, terms: dict[str, Any]) -> bool | None:
    common = {"sensitive": "value", "class_id": "class_id"}
    match name:
        case "t_closeness" if terms["distance"] != "hierarchical":
            query = generic_test("t_closeness", "release", **terms, **common)
        case "entropy_l":
            query = generic_test("l_diversity", "release", kind="entropy", **terms, **common)
        case "recursive_cl":
            query = generic_test("l_diversity", "release", kind="recursive", **terms, **common)
        case _:
            return None
    return not connection.execute(query).fetchall()


def by_macro(
    connection: duckdb.DuckDBPyConnection, name: str, terms: dict[str, Any]
) -> bool | None:
    """A figure of the shell's macros, compared with the bound in SQL as a user would."""
    on = "'release', ['class_id'], 'value'"
    match name, terms.get("distance"):
        case "t_closeness", "equal" | "ordered" as distance:
            query = f"select t_{distance} <= {terms['t']!r} from anon_t({on})"
        case "alpha", _:
            query = f"select alpha <= {terms['alpha']!r} from anon_alpha({on})"
        case "entropy_l", _:
            # the figure has 12 decimals
            query = f"select entropy_l >= {terms['l']!r} - 1e-12 from anon_l({on})"
        case "recursive_cl", _:
            query = f"select recursive_c < {terms['c']!r} from anon_l({on}, l := 2)"
        case _:
            return None
    ((found,),) = connection.execute(query).fetchall()
    return bool(found)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as opened:
        opened.execute(SCRIPT.read_text(encoding="utf-8")).fetchall()
        yield opened


@rounds(4, 20, 60)
@pytest.mark.parametrize("case", FIGURES, ids=" ".join)
def test_all_agree_at_a_tie_and_beside_it(
    connection: duckdb.DuckDBPyConnection, case: tuple[str, str, str], rounds: int
) -> None:
    name, parameter, _ = case
    figure_of, others = FIGURES[case]
    guarantee = BY_NAME[name]
    low, high = ENDS.get(parameter, ENDS.get(name, (0.0, 1.0)))
    if name == "delta_disclosure":
        high = math.inf
    draw = random.Random(repr(case))
    compared = set()
    for _ in range(rounds):
        rows = drawn(draw, nulls=name != "t_closeness")
        figure = figure_of(rows)
        if not math.isfinite(figure):
            continue
        examples.publish(connection, rows)
        for bound in near(float(figure), low, high):
            value = {**others, parameter: bound}
            held = value if others or name == "recursive_cl" else bound
            extra = {"paths": PATHS} if value.get("distance") == "hierarchical" else {}
            example = Example(held, "", "", extra)
            terms = examples.parameters(guarantee, example)
            verdicts = {
                "rule": examples.by_rules(connection, examples.rules(guarantee, example)),
                "verifier": examples.by_verifier(connection, guarantee, terms),
                "second verifier": by_reader(rows, name, terms),
                "dbt": by_dbt(connection, name, value),
            }
            if abs(bound - float(figure)) > 1e-11:  # the macros return doubles
                verdicts["macro"] = by_macro(connection, name, value)
            given = {who: verdict for who, verdict in verdicts.items() if verdict is not None}
            assert len(set(given.values())) == 1, (rows, bound, given)
            if abs(bound - float(figure)) > 1e-11:
                meant = bound < figure if parameter in LEAST else bound > figure
                assert set(given.values()) == {meant}, (rows, bound, given)
            compared |= {*given.values()}
    assert compared == {True, False}


@pytest.mark.parametrize("case", FIGURES, ids="-".join)
def test_a_bound_of_many_digits_fits_beside_many_rows(
    connection: duckdb.DuckDBPyConnection, case: tuple[str, str, str]
) -> None:
    """A product of a count and a bound of 18 digits is more than 64 bits hold."""
    name, parameter, _ = case
    figure_of, others = FIGURES[case]
    guarantee = BY_NAME[name]
    draw = random.Random(repr(case))
    rows = next(
        rows
        for rows in (drawn(draw, nulls=False) for _ in range(100))
        if math.isfinite(figure_of(rows)) and figure_of(rows) > 0
    )
    value = {**others, parameter: float(figure_of(rows)) * 1.0000123456789012}
    held = value if others or name == "recursive_cl" else value[parameter]
    extra = {"paths": PATHS} if value.get("distance") == "hierarchical" else {}
    example = Example(held, "", "", extra)
    times = range(0, 200_000, 1000)
    many = examples.Rows(
        {number: values * len(times) for number, values in rows.classes.items()},
        {n: [who + more for more in times for who in persons] for n, persons in rows.who.items()},
        {number: members * len(times) for number, members in rows.members.items()},
    )
    examples.publish(connection, many)
    by_rules = examples.by_rules(connection, examples.rules(guarantee, example))
    terms = examples.parameters(guarantee, example)
    assert examples.by_verifier(connection, guarantee, terms) is by_rules


def test_an_entropy_that_is_a_little_short_fails_for_all(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Three equal values, and a bound that is met up to 3·10^-11, or up to the tolerance."""
    rows = examples.rows_of("abc")
    examples.publish(connection, rows)
    for bound, holds in ((3.0000000001, False), (3 + 1e-12, True), (3.0, True)):
        terms = {"l": bound}
        example = Example(bound, "", "")
        guarantee = BY_NAME["entropy_l"]
        assert examples.by_rules(connection, examples.rules(guarantee, example)) is holds
        assert examples.by_verifier(connection, guarantee, terms) is holds
        assert by_reader(rows, "entropy_l", terms) is holds
        assert by_dbt(connection, "entropy_l", terms) is holds


def test_every_path_states_the_same_digits_and_tolerance() -> None:
    assert exact.DIGITS == verifier.DIGITS == rules.DIGITS
    assert exact.LARGEST == verifier.MOST == rules.MOST
    tolerance = Decimal(repr(entropy_l.TOLERANCE))
    assert tolerance == Decimal(repr(verifier.TOLERANCES["entropy_l"]))
    assert tolerance == frequencies.ENTROPY_TOLERANCE
    assert "1e-12" in generic_test(
        "l_diversity", "release", l=3, kind="entropy", sensitive="value", class_id="class_id"
    )
