"""The entry point of the dbt materialization `anonymized`: turns a model's SQL into a release.

It runs in dbt's process and on dbt's own connection, which is outside of a transaction at that
point. The dbt package is in `sql/dbt`.
"""

from __future__ import annotations

import json
import os
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


HAND_OUT = "To hand it out: anonymizer export {policy} --database {database} -o {name}.parquet"
"""The way out in a project, where the model says the database."""
OTHERS = (
    "--full-refresh said that the persons are others than those of the releases before: none was"
    " looked for in the ledger. If they are the same under other numbers, the releases together may"
    " tell more than each promises"
)
"""The warning of a new population, which a full refresh of other models is not."""
FILES = frozenset({"file", "ledger", "population", "key_file", "vault", "sql"})
"""Options that name files, from the folder of the policy."""
SAID = {
    "source.query": "the model's SQL",
    "another publish.name": "another alias of the model",
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
        target = _target_folder(data.get("compiled"))
        policy = policy_of(data, Path.cwd(), target)
        with _ONE_AT_A_TIME:
            release = _run(policy, data["database"], connection)
            hand_out = _into_target(release, policy, data, connection, target)
        found = report(release, hand_out)
        if data.get("full_refresh") and policy.ledger is not None:
            found["warnings"].append(OTHERS)
        shown = json.dumps(found)
        connection.execute(f"set variable {REPORT} = {lit(shown)}")
    except Exception as error:
        # the engine's errors among them, whose messages quote values
        problems = failure(error).problems
        lines = [in_project(str(problem)) for problem in problems]
        said = "\n".join([f"{data['model']}: nothing was published", *lines])
    connection.execute(f"set variable {OUTCOME} = {lit(said)}")


def report(release: Release, hand_out: str = "") -> dict[str, Any]:
    """What dbt shows of a release: a line, the number of rows, and the warnings; `hand_out` says
    how it leaves the database.
    """
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
            f"{STANDS} {hand_out}" if w == WARNING else in_project(w) for w in release.warnings
        ],
    }


def in_project(said: str) -> str:
    """A message with the places of a project instead of those of a policy."""
    path, colon, rest = said.partition(": ")
    for option, place in SAID.items():
        rest = rest.replace(option, place)
    return path + colon + rest


def policy_of(data: dict[str, Any], project: Path, target: Path) -> AnyPolicy:
    """The policy of a model, whose paths begin in the folder `target`. Raises PolicyError."""
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
    return Policy.loads(json.dumps(_moved(whole, base, target)), target)


def _moved(part: Any, base: Path, target: Path) -> Any:
    """A part of a policy for another folder: paths of files that began in `base`."""
    if isinstance(part, list):
        return [_moved(one, base, target) for one in part]
    if not isinstance(part, dict):
        return part
    moved = {name: _moved(value, base, target) for name, value in part.items()}
    for name in moved.keys() & FILES:
        given = moved[name]
        if isinstance(given, str) and not Path(given).is_absolute():
            moved[name] = os.path.relpath(base / given, target)
    return moved


def _target_folder(compiled: str | None) -> Path:
    """The target folder of dbt, from the path of a model's compiled SQL."""
    folders = Path(compiled or "target/compiled/model.sql").parents
    return Path.cwd() / next(one.parent for one in folders if one.name == "compiled")


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


def _into_target(
    release: Release,
    policy: AnyPolicy,
    data: dict[str, Any],
    connection: DuckDBPyConnection,
    target: Path,
) -> str:
    """Write the complete policy into dbt's target folder, and move the copy of the manifest there
    from beside the database. Returns how the release is handed out.
    """
    import shutil

    from ruamel.yaml import YAML

    from anonymizer.policy.document import plain
    from anonymizer.process.files import read_beside
    from anonymizer.release.manifest import manifest_file, signature_file
    from anonymizer.release.objects import Names

    target.mkdir(parents=True, exist_ok=True)
    complete = target / f"{data['name']}.policy.yml"
    with complete.open("w", encoding="utf-8") as handle:
        handle.write(f"# Made by dbt from the model {data['model']}: for verify, report, export.\n")
        YAML().dump(plain(policy, defaults=False), handle)
    rows = connection.execute(
        "select path from duckdb_databases() where database_name = coalesce(?, current_catalog())",
        [data["database"]],
    ).fetchall()
    if not rows or not rows[0][0]:
        return ""
    database, names = Path(rows[0][0]), Names(data["schema"], data["name"], release.run_id)
    for own in (True, False):
        file = manifest_file(database, names, own=own)
        if file.is_file() and release.run_id in read_beside(file):
            for one in filter(Path.is_file, (file, signature_file(file))):
                shutil.move(one, target / one.name)
    place = os.path.relpath(complete)
    return HAND_OUT.format(policy=place, database=os.path.relpath(database), name=data["name"])


def _connection(session: Any) -> DuckDBPyConnection:
    """The connection inside dbt's wrappers."""
    while hasattr(session, "_cursor"):
        session = session._cursor
    connection: DuckDBPyConnection = session
    return connection
