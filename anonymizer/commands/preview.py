"""What a run would do and what stands against it, found without writing anything."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anonymizer.algorithms.mondrian.compiling import least_class
from anonymizer.algorithms.prepare import SNAPSHOT
from anonymizer.algorithms.remarks import remarks
from anonymizer.algorithms.roles import Roles, roles
from anonymizer.compile import ident
from anonymizer.engines.backend import backend
from anonymizer.engines.base import EngineName, Limits
from anonymizer.engines.capabilities import refuse
from anonymizer.engines.choice import chosen_engine
from anonymizer.errors import AnonymizerError, Problem
from anonymizer.execute import Executor
from anonymizer.ledger import Keeper
from anonymizer.pipeline import prepare
from anonymizer.plan import Compute, Guard, Loop, Note, Stage, Step
from anonymizer.policy import Policy
from anonymizer.release.inplace_target import WARNING
from anonymizer.release.names import Names
from anonymizer.seed import Seed
from anonymizer.session import Session, open_session


@dataclass(slots=True)
class Preview:
    """The steps of a run, the state of its source, and what cannot work."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    current: dict[str, Any] | None = None
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "current": self.current,
            "problems": [problem.as_dict() for problem in self.problems],
            "warnings": self.warnings,
        }


def preview(policy: Policy, database: str | None, engine: str | None = None) -> Preview:
    """Read the source into memory, compile, and try every check that a run would make first.

    Problems are collected; AnonymizerError is raised only where the source cannot be opened.
    """
    found = Preview()
    kind = chosen_engine(policy, database, engine)
    if kind != "duckdb":
        refuse(policy, kind)
    elif policy.publish.database is None:
        found.warnings.append(WARNING)
    else:
        found.problems += _target_problems(policy, database)
    found.problems += _ledger_problems(policy, database)
    with _source(policy, database, kind, found) as session:
        session.engine.binds = {"secret": Seed.fresh().secret}
        executor = Executor(session.engine)
        try:
            prepared = prepare(policy, session, executor)
            found.warnings += remarks(policy, executor.notes, prepared.roles.kinds)
        except AnonymizerError as error:
            found.problems += error.problems
        else:
            stages = prepared.compiled.plan("").stages
            found.steps = [_shown(stage) for stage in (*prepared.read, *stages)]
            found.problems += _tried(prepared.compiled.stages, executor)
        _look(policy, session, found)
    return found


@contextmanager
def _source(
    policy: Policy, database: str | None, kind: EngineName, found: Preview
) -> Iterator[Session]:
    """The source as a run opens it; elsewhere the place of the release is looked at as well."""
    if kind == "duckdb":
        with open_session(policy, database) as session:
            yield session
        return
    there, run_id = backend(kind), secrets.token_hex(8)
    with there.session(policy, database, run_id, Limits()) as session:
        target = there.target(policy, session, Names.of(policy, run_id))
        try:
            target.check(session.engine)
        except AnonymizerError as error:
            found.problems += error.problems
        found.warnings += target.warnings
        yield session


def _target_problems(policy: Policy, database: str | None) -> list[Problem]:
    from anonymizer.release.file_target import FileTarget

    path = policy.resolve(policy.publish.database or "").resolve()
    if database is not None and Path(database).resolve() == path:
        return [Problem("publish.database", "is the source database itself")]
    try:
        FileTarget(path, Names.of(policy, "")).check()
    except AnonymizerError as error:
        return list(error.problems)
    return []


def _ledger_problems(policy: Policy, database: str | None) -> list[Problem]:
    published = policy.publish.database
    target = policy.resolve(published).resolve() if published is not None else None
    keeper = Keeper.of(policy, "", "", target)
    try:
        if keeper is not None:
            keeper.check(database)
    except AnonymizerError as error:
        return list(error.problems)
    return []


def _shown(stage: Stage) -> dict[str, Any]:
    match stage:
        case Step():
            return {"name": stage.name, "purpose": stage.purpose}
        case Loop():
            steps = [_shown(step) for step in stage.body]
            purpose = f"repeated until no more is left ({stage.until.purpose})"
            return {
                "name": stage.name,
                "purpose": purpose,
                "at_most": stage.at_most,
                "steps": steps,
            }
        case Guard():
            return {"name": stage.name, "purpose": stage.query.purpose, "check": True}
        case Note() | Compute():
            return {"name": stage.name, "purpose": stage.query.purpose}


def _tried(stages: Sequence[Stage], executor: Executor) -> list[Problem]:
    """Run what stands before the last guard. After a guard has spoken, loops are left out."""
    guards = [at for at, stage in enumerate(stages) if isinstance(stage, Guard)]
    problems: list[Problem] = []
    for stage in stages[: guards[-1] + 1] if guards else ():
        if problems and isinstance(stage, Loop):
            continue
        try:
            executor.run([stage])
        except AnonymizerError as error:
            if isinstance(stage, Guard) or not problems:
                problems += error.problems
            if not isinstance(stage, Guard):
                break
    return problems


def _look(policy: Policy, session: Session, found: Preview) -> None:
    """The classes of the source as it is, where it could be read."""
    try:
        columns = roles(policy, session.profile)
        found.current = current_state(policy, session, columns)
    except AnonymizerError:
        return


def current_state(policy: Policy, session: Session, columns: Roles) -> dict[str, Any]:
    """Classes of equal quasi-identifiers in the source, every quasi-identifier open.

    `k` is the smallest class (in persons where the policy has one), `l` the fewest different
    values of a sensitive column in a class; NULL quasi-identifiers are equal to each other.
    """
    unit = "count(distinct person)" if policy.person is not None else "count(*)"
    grouped = ", ".join(str(a.q) for a in columns.quasi)
    diversity = "".join(
        f", count(distinct {column.s}) as l{i}" for i, column in enumerate(columns.sensitive)
    )
    k = least_class(policy)
    least = "".join(f", min(l{i})" for i in range(len(columns.sensitive)))
    row = session.engine.raw(
        f"select cast(sum(size) as bigint), count(*), min(n), avg(n), max(n),"
        f" cast(coalesce(sum(size) filter (where n = 1), 0) as bigint),"
        f" cast(coalesce(sum(size) filter (where n < {int(k)}), 0) as bigint){least} from"
        f" (select count(*) as size, {unit} as n{diversity} from {ident(SNAPSHOT)}"
        + (f" group by {grouped})" if grouped else ")"),
        "current state",
    )[0]
    rows, classes, smallest, mean, largest, unique, below = row[:7]
    return {
        "rows": rows,
        "classes": classes,
        "k": smallest,
        "class_mean": mean,
        "class_max": largest,
        "unique_rows": unique,
        "rows_below_k": below,
        "l": {s.column: value for s, value in zip(columns.sensitive, row[7:], strict=True)},
    }
