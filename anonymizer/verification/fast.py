"""Shortcuts on the embedded engine: each gives the result of the plain check, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonymizer.compile import NumberedColumn, Sql, Table, ident, render, sql
from anonymizer.contract.checks import Check, RunSql
from anonymizer.contract.layout import (
    Layout,
    Originals,
    PublishedColumn,
    cell_parts,
    column_names,
    quasi,
    type_sql,
)
from anonymizer.errors import TemplateError
from anonymizer.verification.questions import Asking, Question, ask_all
from anonymizer.verification.source_comparison import AS_THEY_WERE

# A shortcut: a cheaper statement that replaces the plain one of a question.


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
    return render(f"fast/{question.template}", parameters).text


def answer(
    questions: Sequence[Question], shortcuts: Sequence[Shortcut | None], run_sql: RunSql
) -> tuple[Check, ...]:
    """Answer questions by their shortcuts, and by the plain checks if there is none or no proof.

    All proofs and figures are one statement; several questions may share a proof.
    """
    asked = dict.fromkeys(
        sql for shortcut in shortcuts if isinstance(shortcut, Proof) for sql in shortcut.statements
    )
    counts = [f"(select n from ({sql}) as counted(n))" for sql in asked]
    figures = {i: one.sql for i, one in enumerate(shortcuts) if isinstance(one, Figures)}
    rows = ", ".join(f"({sql}) as figures_{i}" for i, sql in figures.items())
    text = f"select {', '.join([*counts, *(f'figures_{i}.*' for i in figures)])}"
    found = run_sql(f"{text} from {rows}" if rows else text)[0] if counts or rows else ()
    proven = dict(zip(asked, found[: len(asked)], strict=True))
    checks: dict[int, Check] = {}
    at = len(asked)
    for i in figures:
        end = at + 1 + len(questions[i].achieved)
        checks[i], at = questions[i].answer(found[at:end]), end
    if at != len(found):
        raise TemplateError("a figure of the verifier has other columns than its question")
    for i, (question, shortcut) in enumerate(zip(questions, shortcuts, strict=True)):
        if isinstance(shortcut, Proof) and all(proven[sql] == 0 for sql in shortcut.statements):
            checks[i] = question.answer([0] * (1 + len(question.achieved)))
    left = [i for i in range(len(questions)) if i not in checks]
    checks |= zip(left, ask_all([questions[i] for i in left], run_sql), strict=True)
    return tuple(checks[i] for i in range(len(questions)))


# Distinct pairs of cells and original values, and of cells and flags.


AT_ONCE = 24
"""Columns of one table of pairs: its rows and its columns both grow with their number."""


@dataclass(frozen=True, slots=True)
class PairedColumn:
    """One generalized column in a table of pairs."""

    index: int
    pairs: Table
    column: PublishedColumn
    physical: str
    """The column of its originals."""
    flag: str | None
    """The column that is true (or NULL) if the original is sensitive; only with buckets."""

    @property
    def parts(self) -> list[Sql]:
        return [ident(part) for part in cell_parts(self.column)]

    @property
    def cells(self) -> list[Sql]:
        return [Sql(f"cell{self.index}_{i}") for i, _ in enumerate(self.parts, start=1)]

    @property
    def read(self) -> list[Sql]:
        """Its cells as texts, whatever their type in the link."""
        first, *others = self.cells
        if self.column.lo is None and not self.column.list_cells:
            return [Sql(f"cast({first} as varchar) as {first}"), *others]
        return [first, *others]

    @property
    def bucket(self) -> str | None:
        return self.column.bucket

    dealt = NumberedColumn("dealt")
    """True if the value is in a bucket."""
    value = NumberedColumn("value")
    other = NumberedColumn("other")
    """0 if the row is a pair of this column."""
    sensitive = NumberedColumn("sensitive")
    unlike = NumberedColumn("unlike")
    """0 if the row is a pair of this column: whether its cells are in buckets, and should be."""


def pair(columns: Collection[PairedColumn], originals: Originals, link: Table) -> Iterator[str]:
    """The statements that create the tables of pairs."""
    for pairs in dict.fromkeys(one.pairs for one in columns):
        context = {
            "link": link,
            "original": originals.table,
            "row_ref": originals.row_ref,
            "pairs": pairs,
            "columns": [one for one in columns if one.pairs == pairs],
        }
        yield render("fast/pairs", context).text


# Statements that prove that the staged rows equal the release, and come from the source.
#
# They need an engine with 64-bit digests, such as DuckDB. If one proves nothing, every condition is
# checked separately.


@dataclass(frozen=True, slots=True)
class DigestColumn:
    """A published column and its source values, in the form in which digests are computed."""

    name: str
    published: Sql
    original: Sql
    """Expression over a row `o` of the originals."""
    physical: str
    """The column of its originals."""
    values: Table | None = None
    """Its distinct values, if it is published as text and some of them are quoted."""

    @property
    def quoted(self) -> Sql:
        """The quoted values, joined to the originals."""
        return ident(f"quoted: {self.name}")


def kept_columns(originals: Originals, layout: Layout, run_sql: RunSql) -> dict[str, DigestColumn]:
    """Columns whose cells are the originals, by their names in the source.

    They include quasi-identifiers if only groups protect a release: their cells are the texts of
    their values, quoted if ambiguous, and admit nothing else.
    """
    kept = {
        column.column: _digest_column(originals, column)
        for column in layout.columns
        if column.column not in layout.tables
        and column.bucket is None
        and column.role in AS_THEY_WERE
    }
    if layout.class_id is None and layout.group_id is not None and layout.cells == "text":
        for column in quasi(layout):
            values = originals.distinct.get(column.column)
            if values is None or column.bucket is not None:
                continue
            # texts of numbers and dates need no quotes
            asked = (
                column.kind == "categorical"
                and run_sql(render("fast/quoted", {"values": values}).text)[0][0]
            )
            kept[column.column] = _text_column(originals, column, values if asked else None)
    return kept


def _digest_column(originals: Originals, column: PublishedColumn) -> DigestColumn:
    name, physical = column.name, originals.values[column.column]
    assert name is not None, "such columns have a cell of one part"
    own = Sql(f"cast(o.{ident(physical)} as {type_sql(column.sql_type)})")
    return DigestColumn(name, ident(name), own, physical)


def _text_column(
    originals: Originals, column: PublishedColumn, quoted: Table | None
) -> DigestColumn:
    """A column published as text."""
    kept = _digest_column(originals, column)
    shown, own = (Sql(f"cast({part} as varchar)") for part in (kept.published, kept.original))
    return DigestColumn(kept.name, shown, own, kept.physical, quoted)


def staged_proof(
    originals: Originals,
    link: Table,
    view: Table,
    layout: Layout,
    kept: Mapping[str, DigestColumn],
    suppressed: int,
) -> str:
    """The statement; 0 proves `source_rows`, `source_link` and the conditions of kept columns."""
    names = {column.name for column in kept.values()}
    parameters = {
        "link": link,
        "data": view,
        "original": originals.table,
        "row_ref": originals.row_ref,
        "kept": list(kept.values()),
        # those of them that are tables, which the header of the template declares
        "written": [column.values for column in kept.values()],
        "rest": _digest_columns(
            layout, [name for name in column_names(layout) if name not in names]
        ),
        "suppressed": suppressed,
    }
    return render("fast/staged", parameters).text


def values_proof(originals: Originals, link: Table, view: Table, layout: Layout) -> str | None:
    """The statement for the values of all separate columns; None without any, or if the release
    numbers persons.
    """
    columns = [column for column in layout.columns if column.column in layout.tables]
    if not columns or layout.person_id is not None:
        return None
    tables = [Table(layout.tables[c.column], view.schema, view.catalog) for c in columns]
    parameters = {
        "link": link,
        "original": originals.table,
        "row_ref": originals.row_ref,
        "group": layout.group_id,
        "separated": [_digest_column(originals, column) for column in columns],
        "values_tables": tables,
    }
    return render("fast/separated", parameters).text


def _digest_columns(layout: Layout, names: list[str]) -> list[Sql]:
    """Published columns in the form in which rows are digested.

    Cells of text columns are texts, whatever their type in the link. Lists follow their lengths: a
    digest of several columns does not show where the members of a list end.
    """
    kinds = {c.name: c for c in quasi(layout) if c.name is not None and c.lo is None}
    digested: list[Sql] = []
    for name in names:
        column, cell = kinds.get(name), ident(name)
        if column is None:
            digested.append(cell)
        elif column.list_cells:
            digested += [Sql(f"len({cell})"), cell]
        else:
            digested.append(Sql(f"cast({cell} as varchar)"))
    return digested


# The questions about a release alone, answered from work tables of its tuples and values.


WEIGHT = "anonymizer:rows"
"""Column of the tuples with the number of their rows; no published column has this name."""


@dataclass(frozen=True, slots=True)
class WorkTables:
    """The work tables that may be created."""

    tuples: Table
    """The distinct tuples of every class."""
    values: Table
    """The counted values of every class or bucket; one table per column, with a numeric suffix."""


def fast_release(view: Table, layout: Layout, tables: WorkTables | None = None) -> Asking:
    """The function that answers the questions of `verify_release` on the embedded engine.

    Without work tables, where nothing may be written, only rows are read, and digests are not used.
    """

    def ask(questions: Sequence[Question], run_sql: RunSql) -> tuple[Check, ...]:
        if tables is None:
            shortcuts = [_of_rows(question) for question in questions]
        else:
            shortcuts = release_shortcuts(questions, view, layout, tables, run_sql)
        return answer(questions, shortcuts, run_sql)

    return ask


def release_shortcuts(
    questions: Sequence[Question], view: Table, layout: Layout, tables: WorkTables, run_sql: RunSql
) -> list[Shortcut | None]:
    """The shortcut of every question that has one; creates the work tables."""
    counted = _of_values(questions, tables.values, run_sql)
    tuples = tables.tuples if layout.class_id is not None else None
    if tuples is not None:
        context = {
            "data": view,
            "tuples": tuples,
            "shown": _published_cells(layout),
            "weight": WEIGHT,
        }
        run_sql(render("fast/tuples", context).text)
    return [
        _of_rows(question)
        or _of_digests(question)
        or (_of_tuples(question, tuples) if tuples is not None else None)
        or values
        for question, values in zip(questions, counted, strict=True)
    ]


def _of_rows(question: Question) -> Shortcut | None:
    """A shortcut that counts rows instead of classes and reads texts of cells once."""
    return Proof((fast_sql(question),)) if question.template == "cell_or_bucket" else None


def _of_digests(question: Question) -> Shortcut | None:
    """Compare groups by sums of their digests, if rows are counted and not persons."""
    if question.template == "group_sizes" and question.parameters["person"] is None:
        return Proof((fast_sql(question),))
    return None


def _published_cells(layout: Layout) -> list[Sql]:
    """The class and its generalized cells by their own names; cells in buckets are NULL."""
    shown = [ident(str(layout.class_id))]
    for column in quasi(layout):
        parts, bucket = cell_parts(column), column.bucket
        if bucket is None:
            shown += map(ident, parts)
            continue
        shown.append(sql("case when {bucket} is not null then 0 end as {bucket}", bucket=bucket))
        cell = "case when {bucket} is null then {part} end as {part}"
        shown += [sql(cell, bucket=bucket, part=part) for part in parts]
    return shown


def _of_tuples(question: Question, tuples: Table) -> Shortcut | None:
    """Ask the tuples: they prove conditions of form, and have the sizes if rows are counted."""
    if question.over is not None:
        return None  # it is about other rows
    asked = replace(question, parameters={**question.parameters, "data": tuples, "weight": WEIGHT})
    match question.template:
        case "class_cells" | "class_flags":
            return Proof((asked.sql(figures=True),))
        case "cell_form":
            return Proof((fast_sql(asked),))
        case "k_anonymity" | "k_anonymity_tuples" if question.parameters["person"] is None:
            return Figures(asked.sql(figures=True))
    return None


def _of_values(
    questions: Sequence[Question], table: Table, run_sql: RunSql
) -> Iterator[Shortcut | None]:
    """Shortcuts that count the values of the same groups once for several questions.

    The plain statement is kept; its counting subquery is replaced by a table made from it.
    """
    counting = Counter(_count_key(question) for question in questions)
    made: dict[Hashable, tuple[str, str]] = {}
    for question in questions:
        counted = _count_key(question)
        if counted is None or counting[counted] == 1:
            yield None
            continue
        if counted not in made:
            values = replace(table, name=f"{table.name}_{len(made) + 1}")
            context = {**question.parameters, "values": values}
            creates, _, subquery = render("fast/values", context).text.partition(" as\n")
            run_sql(f"{creates} as\n{subquery}")
            made[counted] = subquery, f"select grp, value, n from {ident(values)}"
        yield Figures(question.sql(figures=True).replace(*made[counted]))


def _count_key(question: Question) -> Hashable:
    """The key of a question's count; None for other counts, and for persons."""
    asks = question.parameters
    if "nulls_count" not in asks or asks["person"] is not None or question.over is not None:
        return None
    return asks["data"], asks["group"], asks["column"]


# The questions about a release and its source, answered from pairs, and from digests of rows.


@dataclass(frozen=True, slots=True)
class Proofs:
    """The statements of single questions, and those shared by several."""

    kept: Mapping[str, DigestColumn]
    staged: str
    values: str | None
    columns: Mapping[str, PairedColumn]

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
    """The function that answers the questions of `verify_against_source` on the embedded engine.

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
        column.column: PairedColumn(
            index,
            replace(pairs, name=f"{pairs.name}_{index // AT_ONCE}"),
            column,
            originals.values[column.column],
            originals.flags.get(column.column) if column.bucket is not None else None,
        )
        for index, column in enumerate(quasi(layout), start=1)
        if column.column not in kept and (column.bucket is None or column.column in originals.flags)
    }
    for statement in pair(columns.values(), originals, link):
        run_sql(statement)
    staged = staged_proof(originals, link, view, layout, kept, suppressed)
    values = values_proof(originals, link, view, layout)
    return Proofs(kept, staged, values, columns)
