"""Tables of persons, policies of counts over them, and their releases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from anonymizer.compile import Table
from anonymizer.policy import AggregatePolicy, Policy
from anonymizer.release.published import Release
from anonymizer.run import verbs
from anonymizer.verification.release import verify_release

WORKED = ((20, 50, 10, 15), (2, 19, 22, 30), (17, 32, 12, 8), (9, 7, 25, 14))
"""The worked example: persons by row and column."""


def grid(counts: Iterable[Iterable[int]]) -> list[tuple[str, str]]:
    """One person a row, in r1.. and c1.."""
    return [
        (f"r{i}", f"c{j}")
        for i, row in enumerate(counts, 1)
        for j, n in enumerate(row, 1)
        for _ in range(n)
    ]


def database(folder: Path, rows: Iterable[tuple[Any, ...]], columns: str) -> Path:
    """A database with a table `t`."""
    file = folder / "source.duckdb"
    file.unlink(missing_ok=True)
    listed = [tuple(row) for row in rows]
    with duckdb.connect(str(file)) as con:
        con.execute(f"create table t ({columns})")
        if listed:
            marks = ", ".join("?" for _ in listed[0])
            con.executemany(f"insert into t values ({marks})", listed)
    return file


def policy(folder: Path, by: Any, minimum: int | None = 5, **parts: Any) -> AggregatePolicy:
    """A policy of counts over `t`."""
    aggregate = {"by": by, "measures": {"patients": {"count": "persons"}}}
    if "method" not in parts:
        parts["rest"] = {"limit": 1.0, **parts.get("rest", {})}
    given: dict[str, Any] = {
        "version": 1,
        "source": {"table": "t"},
        "aggregate": {**aggregate, **parts.pop("aggregate", {})},
        "protect": {**({"minimum": minimum} if minimum else {}), **parts.pop("protect", {})},
        "publish": {"name": "counts", "database": str(folder / "release.duckdb")},
        **parts,
    }
    made: Any = Policy.model_validate(given, context={"base": folder})
    assert isinstance(made, AggregatePolicy)
    return made


def published(
    folder: Path, rows: Iterable[tuple[Any, ...]], columns: str, by: Any, **options: Any
) -> Release:
    """The release of a policy over these rows."""
    made = policy(folder, by, **options)
    return verbs.run(made, database(folder, rows, columns), seed=1)


def cells(release: Release) -> Mapping[tuple[Any, ...], Any]:
    """The figures by their labels; those of hidden groups are None."""
    with duckdb.connect(str(release.database), read_only=True) as con:
        found = con.sql(f"from {release.view}")
        labels = [
            i
            for i, name in enumerate(found.columns)
            if name not in ("status", "patients", "visits")
        ]
        at = found.columns.index("patients")
        return {tuple(row[i] for i in labels): row[at] for row in found.fetchall()}


def copied(release: Release) -> duckdb.DuckDBPyConnection:
    """The cells of a release as the table t, and its witnesses as w: rows that no seal covers."""
    con = duckdb.connect()
    con.execute(f"attach '{release.database}' as released (read_only)")
    con.execute(f"create table t as from released.{release.view}")
    for table in release.manifest.layout.tables.values():
        con.execute(f"create table w as from released.{table}")
    return con


def failed(release: Release, con: duckdb.DuckDBPyConnection) -> set[str]:
    """The checks of a release that do not hold of its copied rows."""
    layout = release.manifest.layout
    layout = replace(layout, tables=dict.fromkeys(layout.tables, "w"))
    found = verify_release(
        lambda text: con.execute(text).fetchall(),
        Table("t", "main"),
        layout,
        release.manifest.requirements,
    )
    return {check.name for check in found.failed}
