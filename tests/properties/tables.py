"""Small generated tables and policies over them: the strategies of the property tests."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from anonymizer import Policy
from tests.runs import policy, source

NAMES = ["age", 'a "quoted" name', "größe", "select", "with space", "Ort'; drop table x; --", "{x}"]
TEXTS = [
    "",
    " ",
    "*",
    "NULL",
    "a",
    "A",
    "a or NULL",
    "x, y",
    "{z}",
    "[1, 2]",
    '"',
    "é",
    "日本",
    "%",
]

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "INTEGER": st.integers(-3, 3) | st.sampled_from([2**31 - 1, -(2**31)]),
    "BIGINT": st.sampled_from([2**63 - 1, -(2**63), 0, 1, 2, 3, 10**15]),
    "DOUBLE": st.sampled_from([0.1, 0.2, 0.30000000000000004, -1e300, 1e300, 5e-324, 0.0, 1.5]),
    "DECIMAL(9,2)": st.integers(-300, 300).map(lambda cents: Decimal(cents) / 100),
    "DATE": st.dates(dt.date(1999, 12, 28), dt.date(2000, 1, 4)),
    "TIMESTAMP": st.datetimes(dt.datetime(2000, 1, 1), dt.datetime(2000, 1, 3)),
    "BOOLEAN": st.booleans(),
    "VARCHAR": st.sampled_from(TEXTS),
    "ENUM('low', 'mid', 'high')": st.sampled_from(["low", "mid", "high"]),
}
KINDS = {"DATE": "date", "TIMESTAMP": "date"} | dict.fromkeys(
    ("INTEGER", "BIGINT", "DOUBLE", "DECIMAL(9,2)"), "numeric"
)
RULES: list[dict[str, Any]] = [
    {"l_diversity": 2},
    {"l_diversity": 3},
    {"entropy_l": 1.5},
    {"recursive_cl": {"c": 2, "l": 2}},
    {"t_closeness": 0.4},
    {"t_closeness": {"t": 0.3, "distance": "ordered"}},
    {"alpha": 0.6},
    {"l_diversity": 2, "t_closeness": 0.5},
]


def rules(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Rules for a column of this type: an ordered distance is for numbers and dates."""
    ordered = {"t_closeness": {"t": 0.3, "distance": "ordered"}}
    return st.sampled_from([rule for rule in RULES if rule != ordered or kind in KINDS])


@dataclass
class Case:
    """A table with a kept row number `id`, and everything that a policy says of it."""

    types: dict[str, str]
    rows: list[tuple[Any, ...]]
    k: int
    columns: dict[str, dict[str, Any]]
    algorithm: dict[str, Any]
    cells: str
    suppression_limit: float
    quasi: list[str] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=dict)
    """Semi-sensitive column to the column of its flags."""
    rules: dict[str, dict[str, Any]] = field(default_factory=dict)

    def kind(self, column: str) -> str:
        return KINDS.get(self.types[column], "categorical")

    def values(self, column: str) -> list[Any]:
        at = list(self.types).index(column)
        return [row[at] for row in self.rows]

    def value(self, number: int, column: str) -> Any:
        return self.values(column)[number]

    def job(self, folder: Path) -> tuple[Policy, Path]:
        given = policy(
            folder,
            self.columns,
            k=self.k,
            algorithm=self.algorithm,
            suppression_limit=self.suppression_limit,
            publish={"cells": self.cells},
        )
        return given, source(folder, self.types, self.rows)


MONDRIAN: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"name": "mondrian"},
        {"name": "mondrian", "split": "median"},
        {"name": "mondrian", "split": "median", "strict": False},
    ]
)
LGB: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "name": st.just("lgb"),
        "generalization": st.sampled_from(["mdp", "ncp", "loss"]),
        "small_patterns": st.sampled_from(["promote", "suppress"]),
        "ranges": st.sampled_from(["paper", "tight"]),
    }
)


@st.composite
def cases(draw: st.DrawFn, algorithm: str | None = None) -> Case:
    """Any table of 1 to 30 rows with 1 to 3 quasi-identifiers and up to 2 sensitive columns."""
    chosen = {"mondrian": MONDRIAN, "lgb": LGB}.get(algorithm or "", MONDRIAN | LGB)
    options: dict[str, Any] = draw(chosen)
    local = options["name"] == "lgb"
    names = draw(st.permutations(NAMES))
    n_quasi, n_sensitive = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    rows = draw(st.integers(1, 30))
    case = Case(
        types={"id": "INTEGER"},
        rows=[],
        k=draw(st.integers(2, 4)),
        columns={"id": {"role": "keep", "acknowledge_unique": True}},
        algorithm=options,
        cells=draw(st.sampled_from(["text", "typed"])),
        suppression_limit=1.0,
    )
    data: list[list[Any]] = [list(range(rows))]

    def add(name: str, kind: str, values: st.SearchStrategy[Any]) -> None:
        case.types[name] = kind
        data.append(draw(st.lists(values, min_size=rows, max_size=rows)))

    def with_nulls(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return values | st.none() if draw(st.booleans()) else values

    for name in names[:n_quasi]:
        kind = draw(st.sampled_from(list(VALUES)))
        add(name, kind, with_nulls(VALUES[kind]))
        case.columns[name] = {"role": "quasi"}
        case.quasi.append(name)
        if draw(st.integers(0, 5)) == 0:
            case.columns[name]["nulls"] = "suppress"
        if local and draw(st.booleans()):
            case.flags[name] = f"hide {name}"
            add(case.flags[name], "BOOLEAN", st.sampled_from([True, False, False, False, None]))
            case.columns[case.flags[name]] = {"role": "drop"}
            case.rules[name] = draw(rules(kind))
            case.columns[name] |= {
                "sensitive_when": case.flags[name],
                "protect": case.rules[name],
            }
    for name in names[n_quasi : n_quasi + n_sensitive]:
        kind = draw(st.sampled_from(["INTEGER", "VARCHAR", "DATE"]))
        add(name, kind, with_nulls(VALUES[kind]))
        case.columns[name] = {"role": "sensitive", "acknowledge_unique": True}
        if local or draw(st.booleans()):
            case.rules[name] = draw(rules(kind))
            case.columns[name]["protect"] = case.rules[name]
    case.rows = list(zip(*data, strict=True))
    return case
