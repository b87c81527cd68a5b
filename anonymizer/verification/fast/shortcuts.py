"""A shortcut: a cheaper statement that replaces the plain one of a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from anonymizer.compile import render
from anonymizer.contract.checks import Check, RunSql
from anonymizer.verification.questions import Question, ask_all


@dataclass(frozen=True, slots=True)
class Proof:
    """Statements that count possible violations: all 0 proves the condition, else it is open."""

    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """A statement that returns the same row as the plain one."""

    sql: str


Shortcut = Proof | Figures


def fast_sql(question: Question, **more: Any) -> str:
    """The statement of the question's shortcut, named after its template."""
    parameters = {**question.parameters, "achieved": question.achieved, "figures": True, **more}
    return render(f"verify/fast/{question.template}.sql.j2", parameters).text


def answer(
    questions: Sequence[Question], shortcuts: Sequence[Shortcut | None], run_sql: RunSql
) -> tuple[Check, ...]:
    """Answer questions by their shortcuts, and by the plain checks if there is none or no proof.

    Several questions may share a proof, which is then run once.
    """

    @cache
    def proves(sql: str) -> bool:
        return bool(run_sql(sql)[0][0] == 0)

    checks: dict[int, Check] = {}
    for i, (question, shortcut) in enumerate(zip(questions, shortcuts, strict=True)):
        match shortcut:
            case Figures(sql):
                checks[i] = question.answered(run_sql(sql)[0])
            case Proof(statements):
                if all(proves(sql) for sql in statements):
                    checks[i] = question.answered([0] * (1 + len(question.achieved)))
    left = [i for i in range(len(questions)) if i not in checks]
    checks |= zip(left, ask_all([questions[i] for i in left], run_sql), strict=True)
    return tuple(checks[i] for i in range(len(questions)))
