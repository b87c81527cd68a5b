"""Writes a plan as a script for Postgres, with loops as blocks of PL/pgSQL.

The script runs unchanged, in psql or through any driver, and leaves the rows of the release in the
table `staged` of its schema. It neither verifies nor publishes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.compile import Table, ident, quote
from anonymizer.compile.dialect import MARK
from anonymizer.engines.postgres.connection import SETTINGS
from anonymizer.engines.postgres.dialect import DIALECT, setting_of, table_text
from anonymizer.errors import EngineError
from anonymizer.policy import Policy
from anonymizer.source.snapshot import QUERIED
from anonymizer.steps import Composed, Compute, Guard, Loop, Note, Parts, Plan, Stage, Step

PLACE = "anonymizer_work"
"""Schema of the script's tables."""

OPENING = f"""\
-- {{title}}
DROP SCHEMA IF EXISTS {quote(PLACE)} CASCADE;
CREATE SCHEMA {quote(PLACE)};
{{source}}{{settings}}
-- The secret that orders rows and numbers: one that is set before, else a fresh one.
-- With one that is known, draws can be repeated: forget it.
SELECT length(set_config({{setting}}, coalesce(
  nullif(current_setting({{setting}}, true), ''),
  replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')
), false));"""

CLOSING = f"""\
SELECT length(set_config({{setting}}, '', false));
-- The rows of the release, in their order: {quote(PLACE)}.staged"""


def script(plan: Plan, policy: Policy, database: object = None) -> str:
    """The script of a plan. Raises EngineError if a step is computed outside SQL."""
    del database
    setting = f"'{setting_of('secret')}'"
    settings = "\n".join(f"SET {name} = {_value(value)};" for name, value in SETTINGS.items())
    opening = {"setting": setting, "settings": settings, "source": _source(policy)}
    parts = [OPENING.format(title=plan.title, **opening)]
    for stage in plan.stages:
        parts.append("\n".join(_shown(stage)))
    parts.append(CLOSING.format(setting=setting))
    return "\n\n".join(parts).replace(MARK, PLACE) + "\n"


def copied_source(policy: Policy) -> Table:
    """The table that a script reads; the schema main becomes public."""
    if policy.source.kind == "query":
        return QUERIED
    name, schema = (*reversed(policy.source.parts), "main")[:2]
    return Table(name, "public" if schema == "main" else schema)


def scripted(policy: Policy) -> Policy:
    """The policy that a script implements."""
    return policy


def _value(setting: str) -> str:
    """The value of a setting, or its list of values, as SQL."""
    return ", ".join(f"'{one}'" for one in setting.split(", "))


def _source(policy: Policy) -> str:
    """A statement that stores the source query as a table, under the role's search path."""
    if policy.source.kind != "query":
        return ""
    query = (policy.source.query or "").strip().rstrip(";")
    target = table_text(ident(QUERIED).text)
    return f"CREATE UNLOGGED TABLE {target} AS SELECT * FROM (\n{query}\n) AS q;\n"


def _shown(stage: Stage) -> Iterator[str]:
    match stage:
        case Step():
            yield f"-- {stage.name}: {stage.purpose}"
            yield from _statements(stage)
        case Note():
            yield f"-- {stage.name}: {stage.query.purpose}"
            yield from _statements(stage.query)
        case Guard():
            yield f"-- {stage.name}: {stage.query.purpose}"
            (query,) = DIALECT.translate(stage.query.statement("postgres").text, pretty=True)
            said = stage.name.replace("'", "''")
            yield "DO $guard$\nBEGIN"
            yield f"IF EXISTS (\n{query}\n) THEN"
            yield f"  RAISE EXCEPTION USING MESSAGE = '{said}: the run stops here';"
            yield "END IF;\nEND\n$guard$;"
        case Loop():
            yield from _loop(stage)
        case Compute() | Composed() | Parts():
            raise _computed(stage)


def _loop(loop: Loop) -> Iterator[str]:
    yield f"-- {loop.name}: at most {loop.at_most} times, until {loop.until.purpose}"
    yield "DO $loop$\nBEGIN"
    yield from _rounds(loop)
    yield "END\n$loop$;"


def _rounds(loop: Loop) -> Iterator[str]:
    yield f"FOR round IN 1..{loop.at_most} LOOP"
    for part in loop.body:
        match part:
            case Step():
                yield f"-- {part.name}: {part.purpose}"
                yield from _statements(part)
            case Loop():
                yield from _rounds(part)
            case Compute():
                raise _computed(part)
    (query,) = DIALECT.translate(loop.until.statement("postgres").text, pretty=True)
    yield f"EXIT WHEN (\n{query}\n) = 0;"
    yield "END LOOP;"


def _statements(step: Step) -> Iterator[str]:
    statement = step.statement("postgres")
    for text in DIALECT.translate(statement.text, pretty=True):
        yield f"{text};"
    for (target,) in sorted(statement.writes):
        yield f"ANALYZE {table_text(target)};"


def _computed(step: Compute | Composed | Parts) -> EngineError:
    return EngineError.at(
        "--dialect",
        f"postgres has no script for this policy: {step.name} is computed by the program"
        " between two statements",
        hint="anonymizer run does it; a policy without semi-sensitive columns has a script",
    )
