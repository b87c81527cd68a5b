"""Every bound of every guarantee at its ends, under every algorithm that takes it.

Such a policy either publishes a release that the second verifier accepts, or is refused with a
message. The values come from the policy's own schema, so a new guarantee is covered by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.algorithms.registry import BY_NAME
from anonymizer.errors import GuaranteeError, InfeasibleError, PolicyError, SourceError
from anonymizer.guarantees.guarantee import Guarantee
from anonymizer.guarantees.requirements import GUARANTEES
from anonymizer.independent.judge import judge
from anonymizer.policy.algorithms import Danonyir, Geneir
from anonymizer.policy.privacy import Privacy, Protect
from anonymizer.policy.publish import Republish
from anonymizer.policy.values import LARGEST
from tests.runs import policy, run, source
from tests.selection import some

Options = dict[str, Any]
REFUSALS = (PolicyError, SourceError, InfeasibleError, GuaranteeError)
"""What ends with exit code 1 or 2."""
TYPES = {"person": "int", "age": "int", "zone": "text", "ill": "text", "score": "int"}
ROWS = [
    (person, 20 + person // 6, "north" if person < 6 else "south", "abc"[(person + n) % 3], n)
    for person in range(12)
    for n in range(3)
]
LENIENT: Mapping[str, Any] = {"c": 3.0, "l": 2, "k": 2, "t": 1, "alpha": 1, "beta": 1, "max": 1}
"""The other parameters of a guarantee, which ask for as little as they can."""
VARIANTS: Mapping[str, tuple[Options, ...]] = {
    "mondrian": ({}, {"split": "median"}),
    "lgb": ({}, {"generalization": "ncp"}, {"generalization": "loss"}),
    "msb": ({}, {"generalize": {"k": 2}}),
    "danonyir": ({}, {"block_size": "all"}),
}
HOLDERS: Mapping[str, Any] = {"protect": Protect, "privacy": Privacy, "republish": Republish}


def ends(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The ends of a number's range, the numbers next to them, and what can be no bound."""
    if "anyOf" in schema:
        schema = next(one for one in schema["anyOf"] if one.get("type") in ("integer", "number"))
    if schema["type"] == "integer":
        yield from sorted({-1, 0, 1, 2, 3, LARGEST, LARGEST + 1})
        return
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", 1e300)
    near = {math.nextafter(edge, to) for edge in (low, high) for to in (-math.inf, math.inf)}
    yield from sorted({0, 1, low, high, -1e-13, 1e-13, 1e12, 1e13, math.inf} | near)
    yield math.nan


def values(guarantee: Guarantee) -> Iterator[Options]:
    """The part of a policy that asks for a guarantee, each of its parameters at each end."""
    if guarantee.name == "level_l":  # which is spread over two fields
        yield from ({"level_l": {0: 1, 1: l}} for l in ends({"type": "integer"}))
        return
    if guarantee.of_source:  # which is a number for every column
        yield from ({guarantee.option: {"person": l}} for l in ends({"type": "integer"}))
        return
    schema = HOLDERS[guarantee.holder].model_json_schema()
    field = schema["properties"][guarantee.option]
    named = [one["$ref"] for one in field["anyOf"] if "$ref" in one]
    if not named:
        yield from ({guarantee.option: end} for end in ends(field))
        return
    parts = schema["$defs"][named[0].rpartition("/")[2]]["properties"]
    numbers = [name for name, part in parts.items() if part.get("type") in ("integer", "number")]
    held = {one: LENIENT.get(one, 0) for one in numbers}
    if "population" in parts:
        held["population"] = "people.parquet"
    for distance in ("equal", "ordered", "hierarchical") if "distance" in parts else (None,):
        kinds = {} if distance is None else {"distance": distance}
        for name in numbers:
            for end in ends(parts[name]):
                yield {guarantee.option: {**held, **kinds, name: end}}


def asked() -> Iterator[tuple[Guarantee, str, Options]]:
    """Every guarantee with every value: also the part of the policy that holds the field."""
    for guarantee in GUARANTEES:
        holder = "privacy" if guarantee.name == "level_l" else guarantee.holder
        for value in values(guarantee):
            yield guarantee, holder, value


def inside(holder: str, value: Options) -> bool:
    """Whether the policy's schema takes the value."""
    try:
        HOLDERS[holder].model_validate(value)
    except ValueError:
        return False
    return True


def cases() -> Iterator[Any]:
    for guarantee, holder, value in asked():
        for algorithm in BY_NAME.values():
            moving = guarantee.family == "signature" and algorithm.name == "mondrian"
            if not (moving or algorithm.works_towards(guarantee)) or not inside(holder, value):
                continue
            for options in VARIANTS.get(algorithm.name, ({},)):
                for limit in (0, 1):
                    chosen = {"name": algorithm.name, **options}
                    rest = {"algorithm": chosen, "suppression_limit": limit}
                    yield pytest.param(
                        guarantee, holder, value, rest, id=f"{value} {chosen} {limit}"
                    )


def asking(folder: Path, guarantee: Guarantee, holder: str, value: Options, rest: Options) -> Any:
    """A policy over the small table that asks for this and nothing else, as far as possible."""
    name = rest["algorithm"]["name"]
    leveled = {"levels": {1: ["a"]}, "default_level": 0} if guarantee.name == "level_l" else None
    protect: Options | None = value if holder == "protect" else leveled
    distance = (protect or {}).get("t_closeness", {}).get("distance")
    tree = {"hierarchy": {"builder": "frequency"}}
    levels = BY_NAME[name].options.over_levels
    judged: Options = {"role": "sensitive", **({"protect": protect} if protect else {})}
    columns: Options = {
        "person": "identifier",
        "age": {"role": "quasi", **({"hierarchy": {"builder": "cardinality"}} if levels else {})},
        "zone": {"role": "quasi", **(tree if levels else {})},
        "ill": "drop" if distance == "ordered" else judged,
        "score": judged if distance == "ordered" else "drop",
    }
    if distance == "hierarchical":
        columns["ill"] = judged | tree
    given: Options = {holder: value} if holder != "protect" else {}
    k = 2 if name == "lgb" or guarantee.of_source else None
    persons = guarantee.family == "persons" or name in (Danonyir.algorithm(), Geneir.algorithm())
    if persons:
        given["person"] = "person"
    if holder == "republish":
        given |= {"ledger": "ledger.duckdb", "key": "person"}
        columns = {**columns, "person": "identifier"}
    return policy(folder, columns, k, **given, **rest)


@some(30, 60)
@pytest.mark.parametrize(("guarantee", "holder", "value", "rest"), list(cases()))
def test_a_bound_at_its_end_holds_or_is_refused(
    tmp_path: Path, guarantee: Guarantee, holder: str, value: Options, rest: Options
) -> None:
    rows = ROWS if holder != "republish" else ROWS[::3]
    database = source(tmp_path, TYPES, rows)
    people = tmp_path / "people.parquet"
    with duckdb.connect(str(database), read_only=True) as connection:
        connection.execute(f"copy people to '{people}'")
    try:
        run(asking(tmp_path, guarantee, holder, value, rest), database)
    except REFUSALS as error:
        refused = error.problems
    else:
        refused = ()
    if refused:
        assert all(problem.path and problem.message for problem in refused)
        return
    found = judge(tmp_path / "release.duckdb", population_file=people)
    assert found.passed, [check for check in found.checks if not check.passed]
    assert bool(found.not_checked) == guarantee.of_source


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda one: one.name)
def test_a_value_outside_the_range_is_refused(tmp_path: Path, guarantee: Guarantee) -> None:
    rest = {"algorithm": {"name": "msb" if guarantee.name == "level_l" else "mondrian"}}
    outside = [value for _, holder, value in asked() if not inside(holder, value)]
    assert outside
    for found, holder, value in asked():
        if found is guarantee and not inside(holder, value):
            with pytest.raises(PolicyError) as raised:
                asking(tmp_path, guarantee, holder, value, rest)
            assert all(problem.path and problem.message for problem in raised.value.problems)
