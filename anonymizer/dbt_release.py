"""What the dbt materialization `anonymized` calls: a model's SQL in, a verified release out.

It runs in dbt's process and on dbt's own connection, which is not inside a transaction then. The
package for dbt is in `sql/dbt`.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Policy

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from anonymizer.release.release import Release

_ONE_AT_A_TIME = threading.Lock()
"""dbt runs models in threads of one process, and the scratch catalog is there once."""


class ReleaseError(RuntimeError):
    """Says why nothing was published, without the engine's messages, which may quote values."""


def publish(given: str, session: Any) -> None:
    """Publish the release of one model; what is published already stays where that fails.

    `given` is a JSON object with the model's `name`, `schema`, `database`, `query`, `policy` (a
    mapping or the path of a file) and `columns` (the entries that stand in the columns' `meta`).
    Raises ReleaseError with everything that is wrong.
    """
    from anonymizer.commands.failures import failure

    data: dict[str, Any] = json.loads(given)
    said: str | None = None
    try:
        policy = policy_of(data, Path.cwd())
        with _ONE_AT_A_TIME:
            _run(policy, data["database"], _connection(session))
    except Exception as error:
        # the engine's errors among them, whose messages quote values
        problems = failure(error).problems
        said = "\n".join([f"{data['model']}: nothing was published", *map(str, problems)])
    if said is not None:
        # outside of the except clause: dbt prints the whole chain of causes
        raise ReleaseError(said)


def policy_of(data: dict[str, Any], project: Path) -> Policy:
    """The policy of a model. Raises PolicyError."""
    from anonymizer.policy import load

    given, base = data["policy"], project
    if isinstance(given, str):
        path = project / given
        given, base = load.read(path), path.parent
    given = {} if given is None else given
    if not isinstance(given, dict):
        raise PolicyError(Problem("policy", "is neither a mapping nor the path of a file"))
    columns = given.get("columns") or {}
    problems = []
    if "source" in given:
        problems.append(Problem("source", "stands in the policy", hint="the model's SQL is it"))
    if isinstance(columns, dict):
        problems += [
            Problem(f"columns.{name}", "stands in the policy and in the column's meta")
            for name in sorted(columns.keys() & data["columns"].keys())
        ]
        columns = {**columns, **data["columns"]}
    place = given.get("publish") or {}
    if isinstance(place, dict):
        problems += [
            Problem(f"publish.{name}", "stands in the policy", hint="the model says it")
            for name in ("name", "schema", "database")
            if name in place
        ]
        place = {**place, "name": data["name"], "schema": data["schema"]}
    if problems:
        raise PolicyError(problems)
    whole = {
        "version": 1,
        **given,
        "source": {"query": data["query"]},
        "columns": columns,
        "publish": place,
    }
    return Policy.loads(json.dumps(whole), base)


def _run(policy: Policy, database: str | None, connection: DuckDBPyConnection) -> Release:
    """Publish into `database`, a catalog of the connection."""
    from anonymizer.api import run
    from anonymizer.compile import quote

    row = connection.execute("select current_catalog(), current_schema()").fetchone()
    assert row is not None
    if database is not None:
        connection.execute(f"use {quote(database)}")
    try:
        return run(policy, connection)
    finally:
        connection.execute(f"use {quote(row[0])}.{quote(row[1])}")


def _connection(session: Any) -> DuckDBPyConnection:
    """The connection inside dbt's wrappers."""
    while hasattr(session, "_cursor"):
        session = session._cursor
    connection: DuckDBPyConnection = session
    return connection
