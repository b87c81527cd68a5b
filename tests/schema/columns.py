"""Columns of random tables: their values, the hierarchy that a policy asks for, and its labels."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anonymizer.independent.cells import Cell, read_value

Options = dict[str, Any]


@dataclass(frozen=True)
class Drawn:
    """A column of the source with its entry in the policy."""

    name: str
    sql_type: str
    described: Options
    values: tuple[Any, ...]
    """What it may hold; a value that stands more often is more frequent."""
    nulls: float = 0.0
    labels: Callable[[str, Any], bool] | None = None
    """Whether a node of its hierarchy, by its label, is above a value."""
    file: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The rows of the hierarchy's file: value to the labels above it."""

    @property
    def role(self) -> str:
        return str(self.described["role"])

    def value(self, r: random.Random) -> Any:
        """One value for a row."""
        return None if r.random() < self.nulls else r.choice(self.values)

    def admits(self, cell: Cell, value: Any) -> bool:
        """Whether a row with this value may have been given the cell."""
        if value is None:
            return cell.nullable
        if cell.form == "node" and self.labels is not None:
            return self.labels(str(cell.values[0]), value)
        return cell.admits(read_value(str(value), self.sql_type))


CODES = ("A100", "A101", "A110", "A200", "B100", "B101", "B210", "C999")
CITIES = ("Bonn", "Köln", "a, b", "Aachen", "*", "x or NULL")
DRUGS = {
    "aspirin": ("pain", "drug", "*"),
    "codeine": ("pain", "drug", "*"),
    "heparin": ("blood", "drug", "*"),
    "warfarin": ("blood", "drug", "*"),
    "aloe": ("plant", "other", "*"),
    "sage": ("plant", "other", "*"),
}
ILLS = ("flu", "hiv", "gout", "covid")


def _many(r: random.Random, values: Sequence[Any]) -> tuple[Any, ...]:
    """Some of the values, the first ones more often than the last."""
    some = r.sample(list(values), r.randint(2, len(values)))
    return tuple(value for place, value in enumerate(some) for _ in range(len(some) - place))


def _nulls(r: random.Random) -> float:
    return r.choice([0.0, 0.0, 0.1, 0.3])


def _starts(label: str, value: Any) -> bool:
    return str(value).startswith(label.rstrip("*"))


def event(r: random.Random, name: str) -> Drawn:
    """What somebody may know of a row."""
    kind = r.choice(["code", "city", "drug", "day", "day", "number"])
    role: Options = {"role": "event"}
    if kind == "code":
        codes = _many(r, CODES)
        given = role | {"hierarchy": {"builder": "prefix"}}
        return Drawn(name, "VARCHAR", given, codes, _nulls(r), _starts)
    if kind == "city":
        return Drawn(name, "VARCHAR", role, _many(r, CITIES), _nulls(r))
    if kind == "drug":
        return _drug(r, name, role)
    if kind == "day":
        first = dt.date(2020, 1, 1)
        days = [first + dt.timedelta(r.randrange(r.choice([20, 400, 2000]))) for _ in range(30)]
        given = role | {"hierarchy": {"builder": "date"}}
        return Drawn(name, "DATE", given, tuple(sorted(days)), _nulls(r))
    cuts = {"builder": "intervals", "cuts": [0, 10, 20, 30]}
    numbers = tuple(r.randrange(40) for _ in range(r.choice([3, 20])))
    return Drawn(name, "INTEGER", role | {"hierarchy": cuts}, numbers, _nulls(r))


BUILT: list[Options] = [
    {"builder": "conventional"},
    {"builder": "divisor", "mode": "chain", "divisors": [2, 4, 16]},
    {"builder": "cardinality"},
    {"builder": "on_the_fly"},
]
"""Builders of trees over numbers and dates."""


def built_event(r: random.Random, name: str) -> Drawn:
    """What somebody may know of a row, in a hierarchy of a builder that `event` does not draw."""
    kind = r.choice(["number", "number", "day", "end", "set", "listed"])
    role: Options = {"role": "event"}
    if kind == "end":
        given = role | {"hierarchy": {"builder": "suffix"}}
        return Drawn(name, "VARCHAR", given, _many(r, CODES), _nulls(r), _ends)
    if kind == "set":
        given = role | {"hierarchy": {"builder": "frequency"}}
        return Drawn(name, "VARCHAR", given, _many(r, ILLS), _nulls(r), _in_set)
    if kind == "listed":
        given = role | {"hierarchy": {"builder": "order", "values": list(ILLS)}}
        return Drawn(name, "VARCHAR", given, _many(r, ILLS), _nulls(r), _in_set)
    given = role | {"hierarchy": r.choice(BUILT)}
    numbers = [r.randrange(40) for _ in range(r.choice([3, 20]))]
    if kind == "day":
        days = tuple(dt.date(2020, 1, 1) + dt.timedelta(9 * number) for number in numbers)
        return Drawn(name, "DATE", given, days, _nulls(r))
    return Drawn(name, "INTEGER", given, tuple(numbers), _nulls(r))


def ruled_event(r: random.Random, name: str) -> Drawn:
    """What somebody may know of a row; of categories in a tree, also what is secret in others."""
    made = r.choice([event, built_event])(r, name)
    builder = made.described.get("hierarchy", {}).get("builder")
    if made.sql_type == "VARCHAR" and builder not in ("frequency", "order") and r.random() < 0.8:
        made.described["protect"] = {"eir_l": r.choice([2, 2, 3])}
    return made


def _ends(label: str, value: Any) -> bool:
    return str(value).endswith(label.lstrip("*"))


def _in_set(label: str, value: Any) -> bool:
    return label in ("*", value) or value in label.strip("{}").split(", ")


def _above(label: str, value: Any) -> bool:
    return label == value or label in DRUGS[value]


def _drug(r: random.Random, name: str, role: Options) -> Drawn:
    given = role | {"hierarchy": {"file": "drugs.csv"}}
    return Drawn(name, "VARCHAR", given, _many(r, list(DRUGS)), _nulls(r), _above, DRUGS)


def quasi(r: random.Random, name: str) -> Drawn:
    """What somebody may know of a person."""
    kind = r.choice(["age", "age", "city", "code", "day", "size"])
    role: Options = {"role": "quasi"}
    nulls = r.choice([0.0, 0.0, 0.15])
    if nulls and r.random() < 0.3:
        role["nulls"] = "suppress"
    if kind == "age":
        ages = tuple(r.randrange(18, 90) for _ in range(r.choice([2, 5, 40])))
        return Drawn(name, "INTEGER", role, ages, nulls)
    if kind == "city":
        return Drawn(name, "VARCHAR", role, _many(r, CITIES), nulls)
    if kind == "code":
        given = role | {"hierarchy": {"builder": "prefix"}}
        return Drawn(name, "VARCHAR", given, _many(r, CODES), nulls, _starts)
    if kind == "day":
        days = tuple(dt.date(1960, 1, 1) + dt.timedelta(r.randrange(9000)) for _ in range(20))
        return Drawn(name, "DATE", role, days, nulls)
    return Drawn(name, "DOUBLE", role, (0.5, 1.25, 1.5, 2.0, 7.75), nulls)


OF_CHILD: list[Options] = [
    {"eir_l": 2},
    {"eir_l": 3},
]
RULES: list[Options] = [
    {"l_diversity": 2},
    {"l_diversity": 3},
    {"entropy_l": 1.5},
    {"recursive_cl": {"c": 2, "l": 2}},
    {"t_closeness": 0.5},
    {"alpha": 0.75},
    {"beta_likeness": 3},
    {"delta_disclosure": 3},
    {"l_diversity": 2, "alpha": 0.8},
]


def sensitive(r: random.Random, name: str, *, child: bool) -> Drawn:
    """A secret, most often with a rule."""
    described: Options = {"role": "sensitive"}
    rules = [*RULES, *OF_CHILD, *OF_CHILD] if child else list(RULES)
    values: tuple[Any, ...] = ILLS
    sql_type = "VARCHAR"
    if r.random() < 0.3:
        values, sql_type = (0, 10, 20, 50, 100), "INTEGER"
        rules.append({"t_closeness": {"t": 0.4, "distance": "ordered"}})
    if r.random() < 0.8:
        described["protect"] = r.choice(rules)
    else:
        described["acknowledge_unique"] = True
    if r.random() < 0.15:
        described["null_as_value"] = True
    return Drawn(name, sql_type, described, values, r.choice([0.0, 0.0, 0.2]))


def kept(r: random.Random, name: str) -> Drawn:
    """A column that is published as it is."""
    given = {"role": "keep", "acknowledge_unique": True}
    if r.random() < 0.5:
        return Drawn(name, "VARCHAR", given, ("yes", "no", "*", " a", ""), 0.2)
    return Drawn(name, "INTEGER", given, tuple(range(r.choice([3, 1000]))))


def hidden(name: str, role: str) -> Drawn:
    """A column that is not published, with values of its own in every row."""
    return Drawn(name, "VARCHAR", {"role": role}, tuple(f"secret {i}" for i in range(500)))
