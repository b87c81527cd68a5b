"""A question is a condition as two statements: its violations, and the achieved figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

from anonymizer.compile import Sql, Table, ident, render
from anonymizer.contract.checks import Check, Figure, RunSql

WORST = {"least": "min({})", "greatest": "max({})", "sum": "coalesce(sum({}), 0)"}


@dataclass(frozen=True, slots=True)
class Achieved:
    """A column of the judged groups, and which of them (or all together) is the figure."""

    name: str
    over: Literal["least", "greatest", "sum"]

    @property
    def sql(self) -> Sql:
        return Sql(WORST[self.over].format(self.name))


@dataclass(frozen=True, slots=True)
class Over:
    """A query that stands before a statement as a common table expression."""

    name: str
    """The name under which the statement reads it."""
    template: str
    parameters: Mapping[str, Any]

    def before(self, text: str, *, anywhere: bool = False) -> str:
        """The statement with the query in front; every statement of a check begins with WITH."""
        parameters: dict[str, Any] = dict(self.parameters)
        if anywhere:
            parameters = _bare(parameters)
        query = render(f"verify/{self.template}.sql.j2", parameters).text
        head = "with recursive" if text.startswith("with recursive ") else "with"
        assert text.startswith(f"{head} ")
        return f"{head} {ident(self.name)} as (\n{query}\n),\n{text[len(head) + 1 :]}"


@dataclass(frozen=True, slots=True)
class Question:
    """One condition on one column or on the table."""

    name: str
    column: str | None
    required: Figure
    template: str
    """Its statements, without folder and suffix."""
    parameters: Mapping[str, Any]
    achieved: tuple[Achieved, ...] = ()
    """The figures; without any, it is the number of groups that break the condition."""
    constants: Mapping[str, Any] | None = None
    """Parts of the requirement that are no measure (the distance of t, the l of (c,l))."""
    needs: str | None = None
    """A statement that makes the work table that the others read; it runs once for all."""
    over: Over | None = None
    """The query whose rows its statements read, where these are in no table."""

    def sql(self, *, figures: bool = False, anywhere: bool = False) -> str:
        """The statement that returns what breaks the condition, or its count and the figures.

        `anywhere` leaves catalogs out of table names.
        """
        parameters = {**self.parameters, "achieved": self.achieved, "figures": figures}
        if anywhere:
            parameters = _bare(parameters)
        text = render(f"verify/{self.template}.sql.j2", parameters).text
        return text if self.over is None else self.over.before(text, anywhere=anywhere)

    def ask(self, run_sql: RunSql) -> Check:
        """Judge the release. What breaks the condition is counted in the database."""
        return self.answered(run_sql(self.sql(figures=True))[0])

    def answered(self, row: Sequence[Any]) -> Check:
        """What was found, from the row that the statement of the figures gave."""
        broken, *figures = row
        return Check(
            self.name,
            self.column,
            self.required,
            self.achieves(figures or [broken]),
            passed=broken == 0,
            sql=self.sql(anywhere=True),
            failing=int(broken),
        )

    def achieves(self, figures: Sequence[Any]) -> Figure:
        """The achieved figure in its published form: one figure, or several by name."""
        plain: list[float | int | None] = [_plain(figure) for figure in figures]
        if len(plain) == 1 and not self.constants:
            return plain[0]
        names = [part.name for part in self.achieved]
        if len(plain) == 1 and isinstance(self.required, Mapping):
            names = [next(name for name in self.required if name not in (self.constants or {}))]
        return {**dict(zip(names, plain, strict=True)), **(self.constants or {})}


Asking = Callable[[Sequence[Question], RunSql], tuple[Check, ...]]
"""A way to answer questions."""


def ask_all(questions: Iterable[Question], run_sql: RunSql) -> tuple[Check, ...]:
    """Ask every question in the plain way.

    An engine that takes many statements at a time gives its `run_sql` an attribute `at_once`: from
    texts to the rows of each.
    """
    asked = tuple(questions)
    for statement in dict.fromkeys(question.needs for question in asked):
        if statement is not None:
            run_sql(statement)
    texts = [question.sql(figures=True) for question in asked]
    at_once = getattr(run_sql, "at_once", None)
    found = at_once(texts) if at_once is not None else [run_sql(text) for text in texts]
    return tuple(question.answered(rows[0]) for question, rows in zip(asked, found, strict=True))


RELEASED = ("published", "tables")
"""Parameters that hold several published tables."""


def _bare(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with published tables as they are called in any catalog."""
    return {
        name: _deep(value) if name in RELEASED else _called(value)
        for name, value in parameters.items()
    }


def _called(value: object) -> object:
    return replace(value, catalog=None) if isinstance(value, Table) else value


def _deep(value: object) -> object:
    if isinstance(value, list):
        return [_deep(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _deep(one) for name, one in value.items()}
    return _called(value)


def _plain(figure: Any) -> Any:
    """An integer or float that JSON can hold; infinite where no finite bound would do."""
    if figure is None or isinstance(figure, Integral):
        return figure
    return float(figure)
