"""Verify a built release, of one table or of several, and refuse failed or missing checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.contract.checks import UNITS, Figure, Verification, verification
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.contract.reading import Tables
from anonymizer.engines.base import Engine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.guarantees.requirements import GUARANTEES, missing_checks, requirements_of
from anonymizer.policy import AnyPolicy, SchemaPolicy
from anonymizer.policy.paths import column_path, path_text, table_path
from anonymizer.verification.across_tables import Where, tables_questions
from anonymizer.verification.counts_questions import checks_alone, checks_of_source
from anonymizer.verification.guarantees import NEEDED, Members
from anonymizer.verification.questions import Asking, ask_all
from anonymizer.verification.release import verify_release

# Verification of a built release: guarantees from its rows, and agreement with the snapshot.


def judge(
    engine: Engine,
    view: Table,
    layout: Layout,
    requirements: tuple[Requirement, ...],
    population: Members | str = NEEDED,
    ask: Asking = ask_all,
) -> Verification:
    """Verify the rows behind `view` on the engine that sees them (and the population).

    `ask`: how the questions are answered.
    """
    run_sql = engine.asking("verification")
    return verify_release(run_sql, view, layout, requirements, population, ask)


def path_of(name: str, column: str | None, policy: AnyPolicy | None = None) -> str:
    """The path in the policy of what a check judges; checks of form and source have no rule."""
    if column is None:
        known = name.startswith("known_")
        return f"privacy.knows.{name.removeprefix('known_')}" if known else "privacy"
    if policy is not None and policy.several:
        for table in sorted(policy.tables, key=len, reverse=True):
            if column == table:
                return table_path(table)
            if column.startswith(f"{table}."):
                return f"{table_path(table)}.{path_of(name, column.removeprefix(f'{table}.'))}"
        return f"{table_path(policy.person)}.{path_of(name, column)}"
    if name == UNITS:
        return path_text(("privacy", "units", column))
    asked = not name.startswith(("cell_", "source_", "mask_"))
    return column_path(column, *(["protect"] if asked else []))


def unmet(
    name: str,
    column: str | None,
    required: Figure,
    achieved: Figure,
    policy: AnyPolicy | None = None,
) -> Problem:
    """The problem of a failed check, with its figures."""
    return Problem(
        path_of(name, column, policy),
        f"{name} requires {required}, the release reaches {achieved}",
        hint=(
            "a token is a value of the column by chance: format: hex, uuid or number"
            if name == "source_mask_foreign"
            else "different values in every bucket and closeness to the whole column exclude"
            " each other here: ask for one of them"
            if name == "bucket_unique"
            else "nothing was published; this is asked among the persons who remain when rows, or"
            " their numbers, are known: weaken the rule, or leave knows.rows or knows.sensitive out"
            if column is not None and name.startswith("known_")
            else "nothing was published; weaken the requirement or release fewer columns"
        ),
    )


def refuse_unless_passed(verification: Verification, policy: AnyPolicy | None = None) -> None:
    """Raise GuaranteeError with the figures of every failed check."""
    if verification.passed and not verification.not_checked:
        return
    problems = [
        unmet(check.name, check.column, check.required, check.achieved, policy)
        for check in verification.failed
    ]
    problems += [
        Problem(f"privacy.{item.name}", f"cannot be judged: {item.reason}")
        for item in verification.not_checked
    ]
    raise GuaranteeError(problems or [Problem("privacy", "nothing could be verified")])


def refuse_unanswered(
    policy: AnyPolicy, verification: Verification, *, source: bool = False
) -> None:
    """Raise GuaranteeError for every guarantee of the policy that has no check.

    The guarantees are read from the policy's fields, not from the verifier's questions. `source`:
    also for every mask that was not compared with the source.
    """
    GuaranteeError.refuse(
        Problem(
            path,
            f"was not judged: the verification has no check {names} of it",
            hint="nothing is claimed of it; this is a defect of the guarantee's descriptor",
        )
        for path, names in _unanswered(policy, verification, source=source)
    )


def fingerprint(engine: Engine, table: Table) -> tuple[Any, ...]:
    """Row count and order-independent digest of a table: equal for equal multisets of rows."""
    parts: list[str] = []
    for name, sql_type in engine.describe(ident(table).text, "fingerprint"):
        if sql_type.endswith("]"):  # a digest of a list does not show where its members end
            parts.append(f"len({ident(name)})")
        parts.append(ident(name).text)
    listed = ", ".join(parts)
    return engine.raw(
        f"select count(*), sum(cast(hash({listed}) as hugeint)), bit_xor(hash({listed}, 1))"
        f" from {ident(table)}",
        "fingerprint",
    )[0]


@dataclass(frozen=True, slots=True)
class Suppression:
    """The part of the source that is not published, in the policy's unit."""

    unit: str
    total: int
    published: int

    @property
    def suppressed(self) -> int:
        return self.total - self.published

    @property
    def share(self) -> float:
        return self.suppressed / self.total if self.total else 0.0

    def within(self, limit: float) -> bool:
        """True if the suppressed rows are within the limit. The limit is exact as written: 0.29 of
        100 is 29, not 28.999... as with doubles.
        """
        return self.suppressed <= self.total * Decimal(repr(limit))


WAIT = (
    "raise suppression_limit, so that new rows wait, and classes of which few have gone are"
    " withdrawn; or publish later, when k or more of one class have come or gone; if many are"
    " missing in the source, was it cut off?"
)


def refuse_beyond(suppression: Suppression, limit: float, *, grows: bool = False) -> None:
    """Raise GuaranteeError if more than the limit was suppressed.

    `grows`: whether rows were left out because too few of a class came or went.
    """
    if not suppression.within(limit):
        raise GuaranteeError.at(
            "suppression_limit",
            f"{suppression.suppressed} of {suppression.total} {suppression.unit} would be"
            f" suppressed, more than the limit of {limit:g}",
            hint=WAIT if grows else "raise suppression_limit, or weaken the guarantees",
        )


def rows_beyond(
    policy: SchemaPolicy, measures: Mapping[str, Mapping[str, Any]]
) -> Iterator[Problem]:
    """A problem for every further table of which more rows are left out than the limit."""
    limit = policy.allowed.rows
    for name, found in measures.items():
        left_out = Suppression("rows", found["rows"] + found["suppressed"], found["rows"])
        if not left_out.within(limit):
            yield Problem(
                "suppression_limit.rows",
                f"{left_out.suppressed:,} of {left_out.total:,} rows of {name} would be left out,"
                f" more than the limit of {limit:g}",
                hint="raise it, or let an observer know less (knows), or give the events"
                " hierarchies with more levels",
            )


# Verifies the tables of a release together, and refuses failed or missing checks.


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


def _of_values(path: str) -> bool:
    """True if a guarantee concerns sensitive values, so that tables without any need no check."""
    return path in BY_FIELD and BY_FIELD[path].of_values


def _unanswered(
    policy: AnyPolicy, verification: Verification, *, source: bool
) -> Iterator[tuple[str, str]]:
    if policy.counts is not None:
        made = {check.name for check in verification.checks}
        counts, required = policy.counts, requirements_of(policy.lead)
        of_source = checks_of_source(counts.method, required) if source else ()
        asked = (*checks_alone(counts.method, required, zeros=counts.lists_zeros), *of_source)
        path = "protect.minimum" if counts.epsilon is None else "dp.epsilon"
        yield from ((path, name) for name in asked if name not in made)
        return
    lead, further = policy.whole, policy.further.items()
    elsewhere = not lead.sensitive and any(single.sensitive for _, single in further)
    for path, names in missing_checks(lead, verification, source=source):
        if not (elsewhere and _of_values(path)):
            yield path, names
    found = {(check.name, check.column) for check in verification.checks}
    for name, single in further:
        own = tuple(
            replace(c, column=c.column.removeprefix(f"{name}."))
            for c in verification.checks
            if c.column is not None and c.column.startswith(f"{name}.")
        )
        if single.sensitive or single.masked:
            whole = tuple(c for c in verification.checks if c.column is None)
            judged = replace(verification, checks=(*own, *whole))
            for path, names in missing_checks(single, judged, source=source):
                if not single.sensitive and _of_values(path):
                    continue
                yield f"{table_path(name)}.{path}" if path.startswith("columns.") else path, names
        if ("references", f"{name}.{single.person}") not in found:
            yield table_path(name, "links"), "references"
    for name, column in policy.reserved:
        judged_as = f"{name}.{column}" if name in policy.children else column
        if ("eir_l", judged_as) not in found:
            yield table_path(name, "columns", column, "protect", "eir_l"), "eir_l"
    if policy.knows.events and policy.events and ("known_events", None) not in found:
        yield "privacy.knows.events", "known_events"
    if policy.knows.rows and ("known_rows", None) not in found:
        yield "privacy.knows.rows", "known_rows"
    if policy.knows.sensitive:
        for rule, of in sorted(found, key=str):
            among = f"known_{rule}"
            if of is not None and rule in OF_VALUES and (among, of) not in found:
                yield "privacy.knows.sensitive", f"{among} of {of}"
