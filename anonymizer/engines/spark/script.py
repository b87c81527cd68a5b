"""Writes a plan as a script in Spark's SQL, with loops unrolled up to a fixed bound.

The script runs unchanged, in spark-sql or statement by statement in a session, and leaves the rows
of the release in the table `staged` of its database. It neither verifies nor publishes them.

Every step writes a table of Parquet files, so that Spark plans each step separately.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import sqlglot
from sqlglot import exp

from anonymizer.compile import Table, work
from anonymizer.engines.spark.dialect import DIALECT, PREFIX
from anonymizer.errors import EngineError, TemplateError
from anonymizer.policy import Policy
from anonymizer.steps import Composed, Compute, Guard, Loop, Note, Parts, Plan, Stage, Step


def apart(query: str) -> tuple[dict[str, str], str]:
    """The queries of the tables to create first, by name and in order, and the rest of `query`."""
    tree = sqlglot.parse_one(query, read="spark")
    listed = tree.args.get("with_")
    if listed is None:
        return {}, query
    used = Counter(table.name for table in tree.find_all(exp.Table) if not table.db)
    listed.pop()
    made: dict[str, str] = {}
    waiting: dict[str, exp.Expr] = {}
    for cte in listed.expressions:
        _read_from(cte.this, made)
        if used[cte.alias] > 1:
            made[_table(cte.alias)] = _with(waiting, cte.this)
        else:
            waiting[cte.alias] = cte.this
    _read_from(tree, made)
    return made, _with(waiting, tree)


def _table(part: str) -> str:
    return f"part_{part}"


def _read_from(query: exp.Expr, made: dict[str, str]) -> None:
    """Replace references to parts that became tables, and keep their names as aliases."""
    for table in list(query.find_all(exp.Table)):
        if not table.db and _table(table.name) in made:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=table.this.copy()))
            table.set("this", exp.to_identifier(f"{PREFIX}{_table(table.name)}"))


def _with(waiting: dict[str, exp.Expr], query: exp.Expr) -> str:
    """Prefix a query with the waiting parts that it reads, directly or indirectly."""
    parts: list[str] = []
    needed = {table.name for table in query.find_all(exp.Table)}
    for name in reversed(list(waiting)):
        if name in needed:
            part = waiting.pop(name)
            needed |= {table.name for table in part.find_all(exp.Table)}
            parts.append(f"{name} AS (\n{part.sql('spark')}\n)")
    listed = f"WITH {', '.join(reversed(parts))}\n" if parts else ""
    return listed + query.sql("spark")


PLACE = "anonymizer_work"
"""Database of the script's tables."""
ROUNDS = 32
"""Rounds to which a loop is unrolled; beyond them the script stops with an error."""

OPENING = f"""\
-- {{title}}
-- The secret that orders rows and numbers, drawn afresh; with one that is known, draws can be
-- repeated: forget it.
DECLARE OR REPLACE VARIABLE anonymizer_secret STRING
  DEFAULT replace(concat(uuid(), uuid()), '-', '');
SET spark.sql.ansi.enabled = true;
SET spark.sql.session.timeZone = UTC;
SET spark.sql.decimalOperations.allowPrecisionLoss = false;
DROP DATABASE IF EXISTS {PLACE} CASCADE;
CREATE DATABASE {PLACE};"""

CLOSING = f"""\
DROP TEMPORARY VARIABLE anonymizer_secret;
-- The rows of the release: {PLACE}.staged"""

NOT_REFINED = "-- The rows are those of a run with algorithm: {name: mondrian, refine: 0}."

_WRITES = re.compile(
    r"\A\s*(?P<how>create or replace table|insert into)\s+anon_scratch\.main\.(?P<name>\w+)\s+"
    r"(?:as\s)?(?P<query>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)


def script(plan: Plan, policy: Policy, database: object = None) -> str:
    """The script of a plan. Raises EngineError if a step cannot be translated to Spark's SQL."""
    del database
    opening = OPENING.format(title=plan.title)
    if getattr(policy.algorithm, "refine", None) == 0:
        opening = f"{NOT_REFINED}\n{opening}"
    parts = [opening, _source(policy)]
    parts += ["\n".join(_shown(stage)) for stage in plan.stages]
    parts.append(CLOSING)
    whole = "\n\n".join(parts).replace(PREFIX, f"{PLACE}.")
    return whole.replace(":secret", "system.session.anonymizer_secret") + "\n"


def copied_source(policy: Policy) -> Table:
    """The view through which a script reads its source."""
    del policy
    return work("source")


def scripted(policy: Policy) -> Policy:
    """The policy with a loop instead of a recursive statement, which Spark's SQL does not have,
    and without `refine`, which takes one round of a loop for every row of a class.
    """
    algorithm = policy.algorithm
    if getattr(algorithm, "must_refine", False):
        said = "takes more rounds than a script for Spark can have"
        raise EngineError.at("algorithm.refine", said, "0", "leave refine out")
    instead = {"loop": "driven", "refine": 0}
    changed = {key: to for key, to in instead.items() if getattr(algorithm, key, None) == "auto"}
    if not changed:
        return policy
    return policy.model_copy(update={"algorithm": algorithm.model_copy(update=changed)})


def _source(policy: Policy) -> str:
    """The view through which the first statement reads the source."""
    source = policy.source
    match source.kind:
        case "file" if source.format != "parquet":
            raise EngineError.at(
                "source.file",
                "is not a Parquet file, and a script of Spark's reads no other",
                hint="write it as Parquet before, or make it a table of the catalog",
            )
        case "file":
            path = str(policy.resolve(source.file or "").resolve()).replace("`", "``")
            query = f"SELECT * FROM parquet.`{path}`"
        case "table":
            quoted = ("`" + part.replace("`", "``") + "`" for part in source.parts)
            query = f"SELECT * FROM {'.'.join(quoted)}"
        case _:
            query = (source.query or "").strip().rstrip(";")
    return f"-- source\nCREATE VIEW {PREFIX}source AS\n{query};"


def _shown(stage: Stage) -> Iterator[str]:
    match stage:
        case Step():
            yield f"-- {stage.name}: {stage.purpose}"
            yield from _statement(stage)
        case Note():
            yield f"-- {stage.name}: {stage.query.purpose}"
            yield from _statement(stage.query)
        case Guard():
            yield f"-- {stage.name}: {stage.query.purpose}"
            yield _assertion(stage.query, stage.name)
        case Loop():
            yield from _loop(stage)
        case Compute() | Composed() | Parts():
            raise _refused(stage.name, "is computed outside of SQL")


def _loop(loop: Loop) -> Iterator[str]:
    rounds = min(loop.at_most, ROUNDS)
    yield f"-- {loop.name}: {rounds} times; a round with nothing left to do changes nothing"
    for round_ in range(1, rounds + 1):
        yield f"-- {loop.name}, round {round_}"
        for part in loop.body:
            if isinstance(part, Step):
                yield from _statement(part)
            else:
                yield from _shown(part)
    text = f"select count from ({loop.until.statement('spark').text}) as left_over(count)"
    query = f"select 1 as problem from ({text}) where count > 0"
    yield _asserted(_translated(query, loop.name), f"{loop.name}: more than {rounds} rounds")


def _statement(step: Step) -> Iterator[str]:
    text = step.statement("spark").text
    found = _WRITES.match(text)
    if found is None:
        yield f"{_translated(text, step.name)};"
        return
    query, name = _translated(found["query"], step.name), found["name"]
    if name == "snapshot":
        numbered = "SELECT monotonically_increasing_id() AS rowid, anon_rows.*"
        query = f"{numbered} FROM ({query}) AS anon_rows"
    if found["how"].lower() == "insert into":
        yield f"INSERT INTO {PREFIX}{name}\n{query};"
        return
    parts, query = apart(query)
    for part, made in parts.items():
        yield f"CREATE TABLE {PREFIX}{part} USING parquet AS\n{made};"
    # a statement may read the table that it replaces
    yield f"CREATE TABLE {PREFIX}{name}__new USING parquet AS\n{query};"
    yield f"DROP TABLE IF EXISTS {PREFIX}{name};"
    yield f"ALTER TABLE {PREFIX}{name}__new RENAME TO {PREFIX}{name};"
    yield from (f"DROP TABLE {PREFIX}{part};" for part in parts)


def _assertion(query: Step, name: str) -> str:
    return _asserted(_translated(query.statement("spark").text, name), f"{name}: stops here")


def _asserted(query: str, message: str) -> str:
    said = message.replace("'", "")
    return f"SELECT assert_true(count(*) = 0, '{said}') FROM (\n{query}\n) AS anon_problems;"


def _translated(text: str, name: str) -> str:
    try:
        (translated,) = DIALECT.translate(text)
    except TemplateError as error:
        raise _refused(name, "cannot be said in Spark's SQL") from error
    return translated


def _refused(name: str, why: str) -> EngineError:
    return EngineError.at(
        "--dialect",
        f"the step `{name}` {why}",
        hint="anonymizer run --engine spark runs such steps beside Spark; a script takes a"
        " policy without them",
    )
