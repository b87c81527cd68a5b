"""A question: a condition as two statements, for its violations and for the achieved figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

from anonymizer.compile import Sql, Table, ident, render
from anonymizer.contract.checks import Check, Figure, RunSql
from anonymizer.contract.layout import PublishedColumn, cell_parts, type_sql

WORST = {"least": "min({})", "greatest": "max({})", "sum": "coalesce(sum({}), 0)"}


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A column of the judged groups, and how they are reduced to the figure."""

    name: str
    over: Literal["least", "greatest", "sum"]

    @property
    def sql(self) -> Sql:
        return Sql(WORST[self.over].format(self.name))


@dataclass(frozen=True, slots=True)
class Over:
    """A query that is prepended to a statement as a common table expression."""

    name: str
    """The name under which the statement reads it."""
    template: str
    parameters: Mapping[str, Any]

    def before(self, text: str, *, anywhere: bool = False) -> str:
        """The statement after the query; every statement of a check begins with WITH."""
        parameters: dict[str, Any] = dict(self.parameters)
        if anywhere:
            parameters = _bare(parameters)
        query = render(f"verify/{self.template}", parameters).text
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
    achieved: tuple[FigureColumn, ...] = ()
    """The figures; without any, the figure is the number of groups that violate the condition."""
    constants: Mapping[str, Any] | None = None
    """Parts of the requirement that are not a measure (the distance of t, the l of (c,l))."""
    needs: str | None = None
    """A statement that creates the work table of this and other questions; it runs once."""
    over: Over | None = None
    """The query whose rows its statements read, if they are not in a table."""

    def sql(self, *, figures: bool = False, anywhere: bool = False) -> str:
        """The statement that returns the violations, or their count and the figures.

        `anywhere` omits catalogs from table names.
        """
        parameters = {**self.parameters, "achieved": self.achieved, "figures": figures}
        if anywhere:
            parameters = _bare(parameters)
        text = render(f"verify/{self.template}", parameters).text
        return text if self.over is None else self.over.before(text, anywhere=anywhere)

    def ask(self, run_sql: RunSql) -> Check:
        """Judge the release. Violations are counted in the database."""
        return self.answer(run_sql(self.sql(figures=True))[0])

    def answer(self, row: Sequence[Any]) -> Check:
        """The check, from the row that the statement of the figures returned."""
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
        plain: list[float | int | None] = [_json_figure(figure) for figure in figures]
        if len(plain) == 1 and not self.constants:
            return plain[0]
        names = [part.name for part in self.achieved]
        if len(plain) == 1 and isinstance(self.required, Mapping):
            names = [next(name for name in self.required if name not in (self.constants or {}))]
        return {**dict(zip(names, plain, strict=True)), **(self.constants or {})}


def condition(
    name: str,
    column: str | None,
    parameters: Mapping[str, Any],
    broken: str = "",
    *,
    template: str = "",
    needs: str | None = None,
) -> Question:
    """A condition of form, which nothing may break; `broken`: what is summed up for its figure."""
    figures = (FigureColumn(broken, "sum"),) if broken else ()
    return Question(name, column, 0, template or name, parameters, figures, needs=needs)


def of_column(column: PublishedColumn) -> dict[str, Any]:
    """The parameters of every template that reads the cells or values of a column."""
    return {
        "column": column,
        "type": type_sql(column.sql_type),
        "parts": [ident(part) for part in cell_parts(column)],
    }


Asking = Callable[[Sequence[Question], RunSql], tuple[Check, ...]]
"""A way to answer questions."""


def ask_all(questions: Iterable[Question], run_sql: RunSql) -> tuple[Check, ...]:
    """Answer every question by its plain statement.

    An engine that can run many statements at once gives its `run_sql` an attribute `at_once`, which
    maps texts to the rows of each.
    """
    asked = tuple(questions)
    for statement in dict.fromkeys(question.needs for question in asked):
        if statement is not None:
            run_sql(statement)
    texts = [question.sql(figures=True) for question in asked]
    at_once = getattr(run_sql, "at_once", None)
    found = at_once(texts) if at_once is not None else [run_sql(text) for text in texts]
    return tuple(question.answer(rows[0]) for question, rows in zip(asked, found, strict=True))


RELEASED = ("published", "tables")
"""Parameters that contain several published tables."""


def _bare(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with published tables named without catalog."""
    return {
        name: _deep(value) if name in RELEASED else _without_catalog(value)
        for name, value in parameters.items()
    }


def _without_catalog(value: object) -> object:
    return replace(value, catalog=None) if isinstance(value, Table) else value


def _deep(value: object) -> object:
    if isinstance(value, list):
        return [_deep(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _deep(one) for name, one in value.items()}
    return _without_catalog(value)


def _json_figure(figure: Any) -> Any:
    """An integer or float that JSON can hold; infinite if no finite bound suffices."""
    if figure is None or isinstance(figure, Integral):
        return figure
    return float(figure)
