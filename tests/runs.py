"""Whole runs in a few lines: a source from rows, a policy from columns, the published rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.compile import lit, quote
from anonymizer.engines.base import Limits
from anonymizer.release.published import Release
from anonymizer.source.profile import TableProfile

Rows = list[dict[str, Any]]

THRIFTY = Limits(threads=1)


def source(
    folder: Path, types: Mapping[str, str], rows: Iterable[Sequence[Any]], table: str = "people"
) -> Path:
    """A database with one table, its rows in the given order."""
    path = folder / "source.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        fill(connection, types, rows, table)
    return path


def fill(
    connection: duckdb.DuckDBPyConnection,
    types: Mapping[str, str],
    rows: Iterable[Sequence[Any]],
    table: str = "people",
) -> None:
    columns = ", ".join(f"{quote(name)} {kind}" for name, kind in types.items())
    connection.execute(f"create or replace table {quote(table)} ({columns})")
    values = [f"({', '.join(lit(value).text for value in row)})" for row in rows]
    if values:
        connection.execute(f"insert into {quote(table)} values {', '.join(values)}")


def policy(folder: Path, columns: Mapping[str, Any], k: int | None = 2, **rest: Any) -> Policy:
    """A policy over the table `people` that publishes `people_anonymous` into `release.duckdb`.

    A column is given by its role, or in full. `publish` is merged into the default one.
    """
    given: dict[str, Any] = {
        "version": 1,
        "source": {"table": "people"},
        "columns": {
            name: {"role": column} if isinstance(column, str) else dict(column)
            for name, column in columns.items()
        },
        **rest,
    }
    if k is not None:
        given["privacy"] = {"k_anonymity": k} | dict(rest.get("privacy", {}))
    given["publish"] = {"database": "release.duckdb"} | dict(rest.get("publish", {}))
    if given["publish"]["database"] is None:
        del given["publish"]["database"]
    return Policy.model_validate(given, context={"base": folder})


def run(given: Policy, database: Any = None, seed: int | str | None = 1, **rest: Any) -> Release:
    return anonymizer.run(given, database, **{"seed": seed, "limits": THRIFTY, **rest})


def published(release: Release) -> Rows:
    """The published rows, in order, as Python values."""
    with release._reading() as (connection, view):
        return fetch(connection, f"from {view}")


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> Rows:
    described = connection.execute(f"describe {query}").fetchall()
    # the driver needs a further package for zoned times: they are read in UTC
    zoned = [quote(name) for name, kind, *_ in described if kind == "TIMESTAMP WITH TIME ZONE"]
    if zoned:
        plain = ", ".join(f"make_timestamp(epoch_us({name})) as {name}" for name in zoned)
        query = f"select * replace ({plain}) from ({query})"
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def classes(rows: Rows, key: str = "id") -> frozenset[frozenset[Any]]:
    """The partition that a release makes of its rows, told apart by a column that was kept."""
    found: dict[Any, set[Any]] = {}
    for row in rows:
        found.setdefault(row["class_id"], set()).add(row[key])
    return frozenset(frozenset(members) for members in found.values())


@contextmanager
def driven() -> Iterator[None]:
    """Cut level by level, as on an engine whose recursive statements keep no row per key."""
    with pytest.MonkeyPatch.context() as changed:
        without = partial(TableProfile, recursive=False)
        changed.setattr("anonymizer.engines.duckdb.source.TableProfile", without)
        yield
