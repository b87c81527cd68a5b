"""Verification of a built release: guarantees from its rows, and agreement with the snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.contract.checks import Figure, Verification
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.engines.base import Engine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.privacy.of_policy.promises import unanswered
from anonymizer.verification.population import NEEDED, Members
from anonymizer.verification.questions import Asking, ask_all
from anonymizer.verification.verify import verify_release


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


def path_of(name: str, column: str | None) -> str:
    """The path in the policy of what a check judges; checks of form and source have no rule."""
    if column is None:
        known = name.startswith("known_")
        return f"privacy.knows.{name.removeprefix('known_')}" if known else "privacy"
    asked = not name.startswith(("cell_", "source_", "mask_"))
    return column_path(column, *(["protect"] if asked else []))


def unmet(name: str, column: str | None, required: Figure, achieved: Figure) -> Problem:
    """The problem of a failed check, with its figures."""
    return Problem(
        path_of(name, column),
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


def refuse_unless_passed(verification: Verification) -> None:
    """Raise GuaranteeError with the figures of every failed check."""
    if verification.passed and not verification.not_checked:
        return
    problems = [
        unmet(check.name, check.column, check.required, check.achieved)
        for check in verification.failed
    ]
    problems += [
        Problem(f"privacy.{item.name}", f"cannot be judged: {item.reason}")
        for item in verification.not_checked
    ]
    raise GuaranteeError(problems or [Problem("privacy", "nothing could be verified")])


def refuse_unanswered(policy: Policy, verification: Verification, *, source: bool = False) -> None:
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
        for path, names in unanswered(policy, verification, source=source)
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
    """How much of the source is not published, in the policy's unit."""

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
        """Whether the suppressed rows are within the limit. The limit is exact as written: 0.29 of
        100 is 29, not 28.999... as with doubles.
        """
        return self.suppressed <= self.total * Decimal(repr(limit))


WAIT = (
    "raise suppression_limit, so that new rows wait, and classes of which few have gone are"
    " withdrawn; or publish later, when k or more of one class have come or gone"
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
