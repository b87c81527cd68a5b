"""What classes of plain values achieve in each model, by the second verifier.

`classes` maps a class to the sensitive values of its rows (None is NULL), `persons` the same
classes to the persons of the same rows; without them every row is a unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from anonymizer.independent import frequencies as of_values
from anonymizer.independent import persons as of_persons
from anonymizer.independent.definitions import OF_COLUMN, OF_TABLE, Model
from anonymizer.independent.layout import Requirement
from anonymizer.independent.rules import Finding, Group, Terms, shares, total

Classes = Mapping[Any, Sequence[Any]]  # keys and persons are hashable
Persons = Mapping[Any, Sequence[Any]]


@dataclass(frozen=True)
class Result:
    """Achieved figure of each class, and the worst of each (None without classes)."""

    per_class: dict[Hashable, Any]
    worst: Any


def groups(classes: Classes, persons: Persons | None = None) -> list[Group]:
    """The classes as the second verifier has them: numbers as pairs that have an order."""
    units: dict[Any, int] = {}
    found = []
    for name, values in classes.items():
        who = persons[name] if persons is not None else [(name, i) for i in range(len(values))]
        numbers = [units.setdefault(person, len(units)) for person in who]
        records = zip(numbers, map(read, values), strict=True)
        found.append(Group(name, tuple(records)))
    return found


def read(value: Any) -> Any:
    """A value as the second verifier reads it."""
    return value if value is None or isinstance(value, str) else (0, value)


def judge(
    model: Model, classes: Classes, persons: Persons | None = None, **parameters: Any
) -> tuple[dict[Hashable, Finding], Mapping[str, Any]]:
    """What the second verifier finds in every class, and which end of a figure is the worst."""
    given: dict[str, Any] = {
        n: fraction(v) if isinstance(v, Fraction) else v for n, v in parameters.items()
    }
    made = groups(classes, persons)
    some = next((v for values in classes.values() for v in values if v is not None), "")
    ordered = not isinstance(some, str) or given.get("distance") == "ordered"
    if "paths" in given:
        given["paths"] = {leaf: list(nodes) for leaf, nodes in given["paths"].items()}
    sql_type = "INTEGER" if ordered else "VARCHAR"
    rule = model(Terms(Requirement(model.__name__, "s", given)), made, sql_type)
    return {group.label: rule.judge(group) for group in made}, rule.worst


def fraction(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def achieved(
    model: Model,
    names: str,
    bounds: Mapping[str, Any],
    classes: Classes,
    persons: Persons | None = None,
    **parameters: Any,
) -> Result:
    """The figures of these names; a pair where there are two."""
    found, worst = judge(model, classes, persons, **bounds, **parameters)
    figures = {n: {c: one.achieved[n] for c, one in found.items()} for n in names.split()}
    ends = [worst[n](by.values()) if by else None for n, by in figures.items()]
    if len(figures) == 1:
        return Result(next(iter(figures.values())), ends[0])
    return Result({c: tuple(by[c] for by in figures.values()) for c in found}, tuple(ends))


k_anonymity = ir_k = partial(achieved, of_values.k_anonymity, "k", {"k": 1})
distinct_l = partial(achieved, of_values.distinct_l, "l", {"l": 1})
entropy_l = partial(achieved, of_values.entropy_l, "l", {"l": 1})
beta_likeness = partial(achieved, of_values.beta_likeness, "beta", {"beta": 1})
delta_disclosure = partial(achieved, of_values.delta_disclosure, "delta", {"delta": 1})
ir_kl = partial(achieved, of_persons.ir_kl, "k l", {"k": 1, "l": 1})
eir_l = partial(achieved, of_persons.eir_l, "l", {"l": 10**6})
SHARES = {"alpha": 1, "beta": 1}
ir_alpha_beta = partial(achieved, of_persons.ir_alpha_beta, "alpha beta", SHARES)
eir_alpha_beta = partial(achieved, of_persons.eir_alpha_beta, "alpha beta", SHARES)


def recursive_cl(classes: Classes, l: int, persons: Persons | None = None) -> Result:
    return achieved(of_values.recursive_cl, "c", {"c": 1, "l": l}, classes, persons)


def alpha(classes: Classes, persons: Persons | None = None, value: Any = None) -> Result:
    return achieved(of_values.alpha, "alpha", {"alpha": 1, "value": value}, classes, persons)


def alpha_k(classes: Classes, persons: Persons | None = None, value: Any = None) -> Result:
    bounds = {"alpha": 1, "k": 1, "value": value}
    return achieved(of_values.alpha_k, "alpha k", bounds, classes, persons)


def level_l(
    classes: Classes, levels: Mapping[int, Sequence[Any]], level_l: Mapping[int, int], **other: Any
) -> Result:
    given = {"levels": {str(n): list(v) for n, v in levels.items()}, **other}
    given["level_l"] = {str(n): l for n, l in level_l.items()}
    return achieved(of_values.level_l, "ratio", given, classes)


def failing(
    classes: Classes, persons: Persons | None, name: str, **parameters: Any
) -> set[Hashable]:
    """The classes in which a guarantee does not hold; m-uniqueness is two rules."""
    models = [(OF_TABLE | OF_COLUMN)[name]]
    models += [of_values.unique] if name == "m_unique" else []
    found = [judge(model, classes, persons, **parameters)[0] for model in models]
    return {label for one in found for label, finding in one.items() if not finding.holds}


def entropy_l_holds(values: Iterable[Any], l: float) -> bool:
    return judge(of_values.entropy_l, {0: list(values)}, l=l)[0][0].holds


def recursive_cl_holds(values: Iterable[Any], c: Fraction | int, l: int) -> bool:
    return judge(of_values.recursive_cl, {0: list(values)}, c=c, l=l)[0][0].holds


def t_closeness(
    classes: Classes,
    distance: str = "equal",
    *,
    persons: Persons | None = None,
    paths: Mapping[Any, Sequence[Any]] | None = None,
    order: Sequence[Any] | None = None,
    reference: Iterable[Any] | None = None,
) -> Result:
    """Distances from the values of all classes, or of `reference`."""
    if order is not None:  # (numbers have an order, whatever the values are)
        places = {value: place for place, value in enumerate(order) if value is not None}
        classes = {name: [places.get(v) for v in values] for name, values in classes.items()}
        reference = None if reference is None else [places.get(v) for v in reference]
    made = groups(classes, persons)
    q = shares(
        total(made, nulls=True) if reference is None else Counter(read(one) for one in reference)
    )
    measures = {"equal": of_values.equal, "ordered": of_values.ordered_distance}
    if paths is not None:
        known = {read(leaf): list(nodes) for leaf, nodes in paths.items()}
        measures["hierarchical"] = partial(of_values.hierarchical, paths=known)
    found = {one.label: measures[distance](shares(one.counts(nulls=True)), q) for one in made}
    return Result(found, max(found.values(), default=None))


def frequencies(values: Iterable[Any]) -> Counter[Any]:
    """How often each value occurs, without NULL."""
    return Counter(value for value in values if value is not None)


def pairs(classes: Classes, persons: Persons | None = None) -> dict[Hashable, int]:
    """How many different pairs of unit and value each class has."""
    return {group.label: len(group.pairs) for group in groups(classes, persons)}


def holdings(values: Sequence[Any], persons: Sequence[Any]) -> dict[int, set[Any]]:
    """The values of every person that has one."""
    return groups({0: values}, {0: persons})[0].holdings(nulls=False)
