"""The entry point of the dbt materialization `anonymized`: turns a model's SQL into a release.

It runs in dbt's process and on dbt's own connection, which is outside of a transaction at that
point. The dbt package is in `sql/dbt`.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import AnyPolicy, Policy, yaml_text
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.publish.duckdb.in_place import STANDS, WARNING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from anonymizer.release.published import Release

_ONE_AT_A_TIME = threading.Lock()
"""dbt runs models in threads of one process, and the scratch catalog is there once."""


OUTCOME = "anonymizer_outcome"
"""The session variable that the materialization reads: `published`, or what went wrong."""
REPORT = "anonymizer_report"
"""The session variable with what dbt shows of a release, as JSON: message, rows, warnings."""


HAND_OUT = (
    "To hand it out, write it to Parquet with a model on top of it (materialized='external')."
)
"""The way out in a project, where the model says the database."""
SAID = {
    "source.query": "the model's SQL",
    "publish.name": "the model's alias",
    "publish.schema": "the model's schema",
    "publish.database": "the model's database",
}
"""Options of a policy, and where a project has them."""


def publish(given: str, session: Any) -> None:
    """Publish the release of one model; what is published already stays where that fails.

    `given` is a JSON object with the model's `name`, `schema`, `database`, `query`, `policy` (a
    mapping or the path of a file), `columns` (the entries in the columns' `meta`), and whether this
    is a `full_refresh`, which says that the persons of the ledger may be others; `compiled` is the
    path of its compiled SQL, in the project's target folder.
    All problems are stored in a variable of the session, for the materialization to raise:
    dbt would print an exception's traceback before its message. So is what it shows of the release.
    """
    from anonymizer.cli.failures import failure
    from anonymizer.compile import lit

    data: dict[str, Any] = json.loads(given)
    connection = _connection(session)
    connection.execute(f"set variable {OUTCOME} = 'nothing was published'")
    said = "published"
    try:
        policy = policy_of(data, Path.cwd())
        with _ONE_AT_A_TIME:
            release = _run(policy, data["database"], connection)
            _into_target(release, data, connection)
        shown = json.dumps(report(release))
        connection.execute(f"set variable {REPORT} = {lit(shown)}")
    except Exception as error:
        # the engine's errors among them, whose messages quote values
        problems = failure(error).problems
        lines = [in_project(str(problem)) for problem in problems]
        said = "\n".join([f"{data['model']}: nothing was published", *lines])
    connection.execute(f"set variable {OUTCOME} = {lit(said)}")


def report(release: Release) -> dict[str, Any]:
    """What dbt shows of a release: a line, the number of rows, and the warnings."""
    measures = release.measures
    checks = {check.name: check.achieved for check in release.verification.checks}
    figures = [f"k={checks['k_anonymity']}"] if "k_anonymity" in checks else []
    figures.append(many(int(measures["rows"]), "row"))
    if isinstance(measures.get("ncp"), int | float):
        figures.append(f"NCP {measures['ncp']:.2g}")
    if measures.get("suppressed"):
        figures.append(f"{measures['suppressed']:,} left out")
    if release.replaced:
        figures.append("replaced the release before")
    return {
        "message": ", ".join(figures),
        "rows": measures["rows"],
        "warnings": [
            f"{STANDS} {HAND_OUT}" if w == WARNING else in_project(w) for w in release.warnings
        ],
    }


def in_project(said: str) -> str:
    """A message with the places of a project instead of those of a policy."""
    path, colon, rest = said.partition(": ")
    for option, place in SAID.items():
        rest = rest.replace(option, place)
    return path + colon + rest


def policy_of(data: dict[str, Any], project: Path) -> AnyPolicy:
    """The policy of a model. Raises PolicyError."""
    given, base = data["policy"], project
    problems: list[Problem] = []
    if isinstance(given, str):
        path = project / given
        text, base = yaml_text.text_of(path), path.parent
        given = yaml_text.parse(text, path.name)
        problems += yaml_text.blanks(text)
    given = {} if given is None else given
    if not isinstance(given, dict):
        raise PolicyError.at("policy", "is neither a mapping nor the path of a file")
    if "tables" in given:
        raise PolicyError.at("tables", "are several, and a model publishes one")
    columns = given.get("columns") or {}
    if "source" in given:
        problems.append(Problem("source", "is in the policy", hint="the model's SQL is it"))
    if isinstance(columns, dict):
        problems += [
            Problem(
                column_path(name),
                "is in the policy and in the column's meta",
                hint="leave it in one of them",
            )
            for name in sorted(columns.keys() & data["columns"].keys())
        ]
        columns = {**columns, **data["columns"]}
    place = given.get("publish") or {}
    if isinstance(place, dict):
        problems += [
            Problem(f"publish.{name}", "is in the policy", hint="the model says it")
            for name in ("name", "schema", "database")
            if name in place
        ]
        place = {**place, "name": data["name"], "schema": data["schema"]}
    PolicyError.refuse(problems)
    if data.get("full_refresh") and given.get("ledger") is not None:
        again = given.get("republish") or {}
        if isinstance(again, dict):
            given = {**given, "republish": {**again, "new_population": True}}
    whole = {"version": 1, **given, "source": {"query": data["query"]}, "publish": place}
    if "aggregate" not in given or columns:
        whole["columns"] = columns
    return Policy.loads(json.dumps(whole), base)


def _run(policy: AnyPolicy, database: str | None, connection: DuckDBPyConnection) -> Release:
    """Publish into `database`, a catalog of the connection."""
    from anonymizer.compile import quote
    from anonymizer.run.verbs import run

    row = connection.execute("select current_catalog(), current_schema()").fetchone()
    assert row is not None
    if database is not None:
        connection.execute(f"use {quote(database)}")
    try:
        return run(policy, connection)
    finally:
        connection.execute(f"use {quote(row[0])}.{quote(row[1])}")


def _into_target(release: Release, data: dict[str, Any], connection: DuckDBPyConnection) -> None:
    """Move the copy of the manifest from beside the database into dbt's target folder."""
    import shutil

    from anonymizer.process.files import read_beside
    from anonymizer.release.manifest import manifest_file, signature_file
    from anonymizer.release.objects import Names

    rows = connection.execute(
        "select path from duckdb_databases() where database_name = coalesce(?, current_catalog())",
        [data["database"]],
    ).fetchall()
    folders = Path(data.get("compiled") or "target/compiled/model.sql").parents
    target = next(one.parent for one in folders if one.name == "compiled")
    names = Names(data["schema"], data["name"], release.run_id)
    for own in (True, False) if rows and rows[0][0] else ():
        file = manifest_file(Path(rows[0][0]), names, own=own)
        if file.is_file() and release.run_id in read_beside(file):
            target.mkdir(parents=True, exist_ok=True)
            for one in filter(Path.is_file, (file, signature_file(file))):
                shutil.move(one, target / one.name)


def _connection(session: Any) -> DuckDBPyConnection:
    """The connection inside dbt's wrappers."""
    while hasattr(session, "_cursor"):
        session = session._cursor
    connection: DuckDBPyConnection = session
    return connection
