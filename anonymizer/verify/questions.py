"""A question is a condition as two statements: what breaks it, and what the release achieves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonymizer.compile import Sql, Table, render
from anonymizer.verify.result import Check, Figure, RunSql


@dataclass(frozen=True, slots=True)
class Worst:
    """A column of the judged groups, and the aggregate that finds the worst of them."""

    name: Sql
    worst: Sql


def least(name: str = "achieved") -> Worst:
    """The smallest decides."""
    return Worst(Sql(name), Sql("min"))


def greatest(name: str = "achieved") -> Worst:
    """The largest decides."""
    return Worst(Sql(name), Sql("max"))


@dataclass(frozen=True, slots=True)
class Question:
    """One condition on one column or on the table."""

    name: str
    column: str | None
    required: Figure
    template: str
    parameters: Mapping[str, Any]
    achieved: tuple[Worst, ...] = ()
    constants: Mapping[str, Any] | None = None
    """Parts of the requirement that are no measure (the distance of t, the l of (c,l))."""
    provable: bool = False
    """Whether the template has a cheaper statement that proves a condition of form: it counts what
    could break the condition, rows or pairs of values instead of classes, and 0 is a proof."""
    tuples: Table | None = None
    """A work table with the different tuples of every class, which figures and proofs are read from
    instead of the rows (`anonymizer.verify.aids`)."""
    counted: Table | None = None
    """A work table with the values of every group, counted, which figures are read from."""
    shared_proof: str | None = None
    """A statement that proves this condition and others with it, instead of one of its own."""

    def sql(self, *, figure: bool = False, anywhere: bool = False, proof: bool = False) -> str:
        """The statement that returns what breaks the condition, or its count and the figures.

        `anywhere` leaves catalogs out of table names. `proof` is the cheaper statement.
        """
        parameters = {**self.parameters, "achieved": self.achieved}
        parameters |= {"figure": figure, "proof": proof}
        parameters["tuples"] = self.tuples if figure or proof else None
        parameters["counted"] = self.counted if figure else None
        if anywhere:
            parameters = {name: _bare(value) for name, value in parameters.items()}
        return render(self.template, parameters).text

    def ask(self, run_sql: RunSql, proofs: dict[str, bool] | None = None) -> Check:
        """Judge the release. What breaks the condition is counted in the database.

        `proofs` keeps by its text what every proof said: several questions may have one in common.
        """
        if self.provable or self.shared_proof is not None:
            proof = self.shared_proof or self.sql(proof=True)
            told = {} if proofs is None else proofs
            if proof not in told:
                told[proof] = run_sql(proof)[0][0] == 0
            if told[proof]:
                return self.answered((0, 0))
        return self.answered(run_sql(self.sql(figure=True))[0])

    def answered(self, row: Sequence[Any]) -> Check:
        """What was found, from the row that the statement gave."""
        broken, *figures = row
        return Check(
            self.name,
            self.column,
            self.required,
            self._achieved(figures),
            passed=broken == 0,
            sql=self.sql(anywhere=True),
            failing=int(broken),
        )

    def _achieved(self, figures: Sequence[Any]) -> Figure:
        plain = [_plain(figure) for figure in figures]
        if len(plain) == 1 and not self.constants:
            return plain[0]
        names = [part.name.text for part in self.achieved]
        if len(plain) == 1 and isinstance(self.required, Mapping):
            names = [next(name for name in self.required if name not in (self.constants or {}))]
        return {**dict(zip(names, plain, strict=True)), **(self.constants or {})}


def ask_all(questions: Iterable[Question], run_sql: RunSql) -> tuple[Check, ...]:
    """Ask every question; all at once where the engine takes many statements at a time.

    Such an engine gives its `run_sql` an attribute `at_once`: from texts to the rows of each.
    """
    asked = tuple(questions)
    at_once = getattr(run_sql, "at_once", None)
    if at_once is None:
        proofs: dict[str, bool] = {}
        return tuple(question.ask(run_sql, proofs) for question in asked)
    found = at_once([question.sql(figure=True) for question in asked])
    return tuple(question.answered(rows[0]) for question, rows in zip(asked, found, strict=True))


def _bare(value: object) -> object:
    return replace(value, catalog=None) if isinstance(value, Table) else value


def _plain(figure: Any) -> float | int | None:
    """An integer or float that JSON can hold; infinite where no finite bound would do."""
    if figure is None or isinstance(figure, int):
        return figure
    return float(figure)
