"""The questions about a release and its source, answered from pairs, and from digests of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anonymizer.compile import Table
from anonymizer.contract.checks import Check, RunSql
from anonymizer.contract.layout import Layout
from anonymizer.contract.originals import Originals
from anonymizer.verification.fast.pairs import Paired, pair, paired
from anonymizer.verification.fast.shortcuts import Proof, Shortcut, answer, fast_sql
from anonymizer.verification.fast.staged import Kept, kept_columns, staged_proof, values_proof
from anonymizer.verification.questions import Asking, Question


@dataclass(frozen=True, slots=True)
class Proofs:
    """The statements of single questions, and those shared by several."""

    kept: Mapping[str, Kept]
    staged: str
    values: str | None
    columns: Mapping[str, Paired]

    def of(self, question: Question) -> Shortcut | None:
        column = question.column or ""
        match question.template:
            case "source_rows" | "source_link":
                return Proof((self.staged,))
            case "source_equal" | "source_covers" | "source_spanned" if column in self.kept:
                return Proof((self.staged,))
            case "source_values" if self.values is not None:
                return Proof((self.values,))
            case "source_covers":
                return Proof((self._of_pairs(question),))
            case "source_spanned":
                return Proof((self.staged, self._of_pairs(question)))
            case "source_flags" | "source_unflagged":
                return Proof((self._of_pairs(question),))
            case "source_bucket":
                # (like `source_spanned`, it needs the proof that every row has one original)
                return Proof((self.staged, fast_sql(question)))
        return None

    def _of_pairs(self, question: Question) -> str:
        paired = self.columns.get(question.column or "")
        return fast_sql(question, pairs=paired and paired.pairs, paired=paired)


def fast_source(
    originals: Originals,
    link: Table,
    view: Table,
    layout: Layout,
    *,
    pairs: Table,
    suppressed: int = 0,
) -> Asking:
    """How `verify_against_source` answers its questions on the embedded engine.

    `pairs` names work tables that may be created, with a number: the distinct pairs of a cell and
    an original.
    """

    def ask(questions: Sequence[Question], run_sql: RunSql) -> tuple[Check, ...]:
        proofs = source_proofs(originals, link, view, layout, pairs, suppressed, run_sql)
        return answer(questions, [proofs.of(question) for question in questions], run_sql)

    return ask


def source_proofs(
    originals: Originals,
    link: Table,
    view: Table,
    layout: Layout,
    pairs: Table,
    suppressed: int,
    run_sql: RunSql,
) -> Proofs:
    """The proofs of the conditions; creates the work tables."""
    kept = kept_columns(originals, layout, run_sql)
    columns = {
        name: column
        for name, column in paired(layout, originals.values, originals.flags, pairs).items()
        if name not in kept
    }
    for statement in pair(columns.values(), originals, link):
        run_sql(statement)
    staged = staged_proof(originals, link, view, layout, kept, suppressed)
    values = values_proof(originals, link, view, layout)
    return Proofs(kept, staged, values, columns)
