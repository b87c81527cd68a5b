"""The verifier in SQL and the reader in Python, side by side on one release."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from anonymizer.compile import Table
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.errors import NothingToCheckError
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.judge import judge_opened
from anonymizer.independent.layout import Requirement as Read
from anonymizer.independent.rows import open_release
from anonymizer.independent.rules import Check as Own
from anonymizer.verification.release import verify_release

FORM = {
    "class_present",
    "class_cells",
    "class_flags",
    "person_class",
    "cell_form",
    "cell_or_bucket",
    "cells_alike",
    "bucket_persons",
    "person_group",
    "group_sizes",
    "key_dense",
}
"""Conditions of form that both have; what breaks them is counted differently."""


@dataclass
class Compared:
    """How many checks both made, and where they disagree."""

    checks: int = 0
    different: list[str] = field(default_factory=list)


def by_name(checks: Iterable[Any]) -> dict[tuple[str, str | None], list[Any]]:
    found: dict[tuple[str, str | None], list[Any]] = {}
    for check in checks:
        found.setdefault((check.name, check.column), []).append(check)
    return found


LEFT_TO_THE_SEAL = {("dense", "person_id")}
"""Conditions on rows that were changed which only the reader looks at."""


def compare(theirs: Verification, ours: Sequence[Own], *, changed: bool = False) -> Compared:
    """Every check of the verifier has to be answered alike; what only the reader asks, holds.

    `changed`: the rows are not those that were published. Figures of a column are not compared then
    if both found cells in it that are generalized and in a bucket: no definition says what such
    a cell holds, and both refuse the release for it.
    """
    made = Compared()
    mine = by_name(ours)
    judged = by_name(c for c in theirs.checks if not c.name.startswith("source_"))
    undefined = {
        column
        for (name, column), checks in judged.items()
        if changed and name == "cell_or_bucket" and not all(c.passed for c in checks)
        if not all(c.passed for c in mine.get((name, column), []))
    }
    for key, checks in judged.items():
        own = mine.get(key, [])
        if len(own) != len(checks):
            made.different.append(f"{key}: judged {len(checks)} and {len(own)} times")
            continue
        for one, other in zip(checks, own, strict=True):
            if key[1] in undefined and key[0] not in FORM:
                continue
            made.checks += 1
            if one.passed != other.passed:
                made.different.append(f"{key}: {one.passed} and {other.passed}")
            elif key[0] not in FORM and not same(one.achieved, other.achieved):
                made.different.append(f"{key}: {one.achieved} and {dict(other.achieved)}")
    for key, own in mine.items():
        for other in own:
            if key in judged or other.passed:
                continue
            base = judged.get((other.name.removesuffix("_tuples"), other.column), [])
            if any(not one.passed for one in base):
                continue  # the classes fail for the verifier as well
            if theirs.passed and not (changed and key in LEFT_TO_THE_SEAL):
                made.different.append(f"{key}: only the reader asks, and it fails")
    return made


def same(one: Any, other: Mapping[str, Any]) -> bool:
    """Whether two figures are equal but for the rounding of a float."""
    for name, value in other.items():
        given = one.get(name) if isinstance(one, Mapping) else one
        if (given is None) != (value is None):
            return False
        if given is None or value is None:
            continue
        a, b = float(given), float(value)
        if a != b and not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12):
            return False
    return True


def both(path: Path, requirements: Sequence[Requirement], layout: Layout) -> Compared | None:
    """Judge other requirements of the same rows by both; None where neither can judge."""
    opened = open_release(path)
    asked = tuple(
        Read(one.name, one.column, written(one.parameters), one.scope) for one in requirements
    )
    opened = replace(opened, manifest=replace(opened.manifest, requirements=asked))
    with duckdb.connect(str(path), read_only=True, config={"threads": 1}) as connection:
        theirs: Verification | None = None
        with suppress(NothingToCheckError):
            theirs = verify_release(
                lambda text: connection.execute(text).fetchall(),
                Table("people_anonymous", "main", None),
                layout,
                requirements,
            )
    try:
        ours = judge_opened(opened).checks
    except UnreadableError as error:
        made = Compared()
        if theirs is not None:
            made.different.append(f"only the reader refuses: {error}")
        return made
    if theirs is None:
        return Compared(different=[f"only the verifier refuses {[r.name for r in requirements]}"])
    return compare(theirs, ours, changed=True)


def written(value: Any) -> Any:
    """Parameters as JSON would bring them."""
    if isinstance(value, Mapping):
        return {str(key): written(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [written(item) for item in value]
    return Decimal(repr(value)) if isinstance(value, float) else value


def others(r: random.Random, layout: Layout) -> list[Requirement]:
    """Requirements at random over the sensitive columns of a release, whatever it promised."""
    made = []
    for column in layout.columns:
        scope = "class"
        if column.column in layout.tables:
            scope = "group"
        elif column.bucket is not None:
            scope = "bucket"
        elif column.role != "sensitive" or layout.class_id is None:
            continue
        for _ in range(3):
            made.append(_one(r, column.column, column.kind, scope, layout.person_id is not None))
    made.append(Requirement("k_anonymity", None, {"k": r.randint(1, 6)}))
    return made


def _one(r: random.Random, column: str, kind: str, scope: Any, person: bool) -> Requirement:
    ordered = [{"distance": "ordered"}] if kind != "categorical" else []
    rules: list[tuple[str, dict[str, Any]]] = [
        ("distinct_l", {"l": r.randint(1, 4)}),
        ("entropy_l", {"l": r.choice([1.2, 1.5, 2, 2.0, 3])}),
        ("recursive_cl", {"c": r.choice([0.5, 1, 1.5, 3]), "l": r.randint(2, 4)}),
        ("t_closeness", {"t": r.choice([0.1, 0.25, 1 / 3, 0.5, 0.8]), **r.choice([{}, *ordered])}),
        ("alpha", {"alpha": r.choice([0.25, 1 / 3, 0.5, 0.6, 1])}),
        ("beta_likeness", {"beta": r.choice([0.1, 0.5, 1, 2.5])}),
        ("delta_disclosure", {"delta": r.choice([0.2, 0.7, 1.4, 3])}),
    ]
    if scope == "class":
        rules.append(("alpha_k", {"alpha": r.choice([0.5, 0.9]), "k": r.randint(1, 5)}))
    if person and scope == "class":
        shares = {"alpha": r.choice([0.3, 0.5, 0.8]), "beta": r.choice([0.3, 0.5, 0.8])}
        rules += [
            ("ir_kl", {"k": r.randint(1, 4), "l": r.randint(1, 4)}),
            ("ir_alpha_beta", shares),
            ("eir_l", {"l": r.randint(1, 4)}),
            ("eir_alpha_beta", shares),
        ]
    if scope == "group":
        # shares in groups: l-diversity by frequency, or by levels
        levels = {"levels": {"1": ["hiv"], "0": ["flu"]}, "level_l": {"0": 1, "1": 3}}
        rules = [rules[0], ("level_l", levels | r.choice([{}, {"default_level": 1}]))]
    name, parameters = r.choice(rules)
    nulls = {"null_as_value": True} if r.random() < 0.3 else {}
    return Requirement(name, column, {**parameters, **nulls}, scope)


def tamper(r: random.Random, path: Path, layout: Layout) -> None:
    """Change a few sensitive values, or rows, of a release at random."""
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        tables = connection.execute(
            "select table_name from duckdb_tables() where schema_name = 'main'"
            " and starts_with(table_name, '_people_anonymous')"
        ).fetchall()
        frozen = tables[0][0]
        values = [
            (layout.tables.get(one.column, frozen), one.value or one.name)
            for one in layout.columns
            if one.role in ("sensitive", "semi") and (one.value or one.name)
        ]
        for table, name in values:
            assert name is not None
            quoted = '"' + name.replace('"', '""') + '"'
            number = r.randint(0, 3)
            other = r.choice(["null", f'(select any_value({quoted}) from "{table}")'])
            one = next(c for c in layout.columns if name in (c.name, c.value))
            where = "true"
            if one.bucket and one.role == "semi":
                where = '"' + one.bucket.replace('"', '""') + '" is not null'
            chosen = f"order by hash(rowid + {r.randint(0, 99)}) limit {number}"
            connection.execute(
                f'update "{table}" set {quoted} = {other} where rowid in'
                f' (select rowid from "{table}" where {where} {chosen})'
            )
        if r.random() < 0.5:
            connection.execute(
                f'delete from "{frozen}" where rowid in (select rowid from "{frozen}"'
                f" order by hash(rowid) limit {r.randint(1, 3)})"
            )
