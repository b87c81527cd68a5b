"""Verifies the tables of a release together, and refuses failed or missing checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from anonymizer.contract.checks import Verification, verification
from anonymizer.contract.tables import Tables
from anonymizer.engines.base import Engine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.schema.derived import child_policy, persons_policy
from anonymizer.policy.schema.paths import table_path
from anonymizer.privacy.of_policy.promises import unanswered
from anonymizer.privacy.of_policy.registry import GUARANTEES
from anonymizer.release.judge import path_of, unmet
from anonymizer.verification.questions import ask_all
from anonymizer.verification.tables import Where, tables_questions

BY_FIELD = {guarantee.field: guarantee for guarantee in GUARANTEES}


OF_VALUES = {
    ask.name.format(name=guarantee.name)
    for guarantee in GUARANTEES
    for ask in guarantee.asks_in("class")
    if ask.of == "values"
}
"""Names of the checks of guarantees for the values of a column."""


def judge_tables(engine: Engine, tables: Tables, where: Where) -> Verification:
    """Verify the tables together, on the engine that sees them."""
    run_sql = engine.asking("verification")
    return verification(ask_all(tables_questions(tables, where), run_sql))


def refuse_tables_unless_passed(policy: SchemaPolicy, found: Verification) -> None:
    """Raise GuaranteeError naming every failed check across tables."""
    GuaranteeError.refuse(
        replace(
            unmet(check.name, check.column, check.required, check.achieved),
            path=path_in_tables(policy, check.name, check.column),
        )
        for check in found.failed
    )


def path_in_tables(policy: SchemaPolicy, name: str, column: str | None) -> str:
    """The path in the policy of what a check judges."""
    if column is None:
        return path_of(name, column)
    for table in sorted(policy.tables, key=len, reverse=True):
        if column == table:
            return table_path(table)
        if column.startswith(f"{table}."):
            return f"{table_path(table)}.{path_of(name, column.removeprefix(f'{table}.'))}"
    return f"{table_path(policy.person)}.{path_of(name, column)}"


def refuse_tables_unanswered(
    policy: SchemaPolicy, verification: Verification, *, source: bool = False
) -> None:
    """Raise GuaranteeError for every guarantee of the policy that has no check.

    `source`: also for every mask that was not compared with the source.
    """
    found = {(check.name, check.column) for check in verification.checks}
    GuaranteeError.refuse(
        Problem(path, f"was not judged: the verification has no check {names} of it")
        for path, names in _unanswered(policy, verification, found, source=source)
    )


def _of_values(path: str) -> bool:
    """Whether a guarantee concerns sensitive values, so that tables without any need no check."""
    return path in BY_FIELD and BY_FIELD[path].of_values


def _unanswered(
    policy: SchemaPolicy,
    verification: Verification,
    found: set[tuple[str, str | None]],
    *,
    source: bool,
) -> Iterator[tuple[str, str]]:
    lead = persons_policy(policy, identity=True)
    elsewhere = not lead.sensitive and any(table for table, _ in policy.sensitive)
    for path, names in unanswered(lead, verification, source=source):
        if not (elsewhere and _of_values(path)):
            yield path, names
    for name in policy.children:
        own = tuple(
            replace(c, column=c.column.removeprefix(f"{name}."))
            for c in verification.checks
            if c.column is not None and c.column.startswith(f"{name}.")
        )
        single = child_policy(policy, name)
        if single.sensitive or single.masked:
            whole = tuple(c for c in verification.checks if c.column is None)
            judged = replace(verification, checks=(*own, *whole))
            for path, names in unanswered(single, judged, source=source):
                if not single.sensitive and _of_values(path):
                    continue
                yield f"{table_path(name)}.{path}" if path.startswith("columns.") else path, names
        for column, described in policy.tables[name].columns.items():
            asked = described.protect is not None and described.protect.eir_l is not None
            if asked and ("eir_l", f"{name}.{column}") not in found:
                yield table_path(name, "columns", column, "protect", "eir_l"), "eir_l"
        if ("references", f"{name}.{policy.way(name)[0][0]}") not in found:
            yield table_path(name, "links"), "references"
    knows = policy.privacy.knows
    if knows.events and policy.events and ("known_events", None) not in found:
        yield "privacy.knows.events", "known_events"
    if knows.rows and ("known_rows", None) not in found:
        yield "privacy.knows.rows", "known_rows"
    if knows.sensitive:
        for rule, of in sorted(found, key=str):
            among = f"known_{rule}"
            if of is not None and rule in OF_VALUES and (among, of) not in found:
                yield "privacy.knows.sensitive", f"{among} of {of}"
