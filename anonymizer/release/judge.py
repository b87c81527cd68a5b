"""Judging a finished release: guarantees from its rows, and agreement with the snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.engines.base import Engine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.release.layout import Layout, Requirement
from anonymizer.verify import Check, Verification, verify_release
from anonymizer.verify.aids import Aids
from anonymizer.verify.population import NEEDED, Members


def judge(
    engine: Engine,
    view: Table,
    layout: Layout,
    requirements: tuple[Requirement, ...],
    population: Members | str = NEEDED,
    aids: Aids | None = None,
) -> Verification:
    """Verify the rows behind `view` on the engine that sees them (and the population).

    `aids`: work tables that may be made on the way.
    """
    run_sql = engine.asking("verification")
    return verify_release(run_sql, view, layout, requirements, population, aids)


def path_of(check: Check) -> str:
    """Where the policy asks for what a check judges: form and source are asked by no rule."""
    if check.column is None:
        return "privacy"
    asked = not check.name.startswith(("cell_", "source_"))
    return f"columns.{check.column}{'.protect' if asked else ''}"


def refuse_unless_passed(verification: Verification) -> None:
    """Raises GuaranteeError naming every check that does not hold, in figures."""
    if verification.passed and not verification.not_checked:
        return
    problems = [
        Problem(
            path_of(check),
            f"{check.name} requires {check.required}, the release reaches {check.achieved}",
            hint=(
                "different values in every bucket and closeness to the whole column exclude"
                " each other here: ask for one of them"
                if check.name == "bucket_unique"
                else "nothing was published; weaken the requirement or release fewer columns"
            ),
        )
        for check in verification.failed
    ]
    problems += [
        Problem(f"privacy.{item.name}", f"cannot be judged: {item.reason}")
        for item in verification.not_checked
    ]
    raise GuaranteeError(problems or [Problem("privacy", "nothing could be verified")])


def fingerprint(engine: Engine, table: Table) -> tuple[Any, ...]:
    """Count and order-free digest of a table's rows: equal for equal multisets of rows."""
    parts: list[str] = []
    for name, sql_type in engine.describe(ident(table).text, "fingerprint"):
        if sql_type.endswith("]"):  # a digest runs through a list and shows no end of it
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


def refuse_beyond(suppression: Suppression, limit: float) -> None:
    """Raises GuaranteeError when more than the limit was suppressed."""
    if suppression.suppressed > limit * suppression.total:
        raise GuaranteeError(
            Problem(
                "suppression_limit",
                f"{suppression.suppressed} of {suppression.total} {suppression.unit} would be"
                f" suppressed, more than the limit of {limit:g}",
                hint="raise suppression_limit, or weaken the guarantees",
            )
        )
