"""A draft policy for a table of counts, read from the query that makes the table today."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import sqlglot
from sqlglot import exp

from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.values import file_format
from anonymizer.review.assess.classes import QUERY
from anonymizer.review.draft.table_draft import Draft, comment, draft, release_file, scalar

MINIMUM = 5
AUDIENCE = "5 inside an organization; 10 or more for the public"
PATH = "QUERY"
KINDS = ("cube", "rollup", "grouping_sets")
GROUPINGS = (exp.Cube, exp.Rollup, exp.GroupingSets)
SINGLE = "shows values of single persons, and is left out"
MEAN = "is a mean: divide a sum by a count with {ratio: [SUM, COUNT]}, both measures of the table"
NAMED = "is a sum of no plain column: give it a name in source.query"
DOMINANCE = 10
"""A usual p: nobody's contribution to a sum can be estimated within 10 %."""


@dataclass(slots=True)
class Asked:
    """What a query counts."""

    columns: dict[str, exp.Expr] = field(default_factory=dict)
    """The columns of groups by their names, with what they are in the source."""
    margins: tuple[tuple[str, ...], ...] | None = None
    """The totals; None for all."""
    person: exp.Expr | None = None
    measures: dict[str, str] = field(default_factory=dict)
    sums: list[exp.Column] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    minimum: int = MINIMUM
    dominance: bool = False
    """True if a measure adds up what persons contribute."""


def draft_table_or_query(
    table: str, database: Database = None, *, base: str | Path = ".", limits: Limits | None = None
) -> Draft:
    """Draft a policy for a table as `table_draft.draft` does, or one of counts for a query."""
    if QUERY.match(table):
        return draft_counts(table, base)
    return draft(table, database, base=base, limits=limits)


def draft_counts(query: str, base: str | Path = ".") -> Draft:
    """Draft a policy with `aggregate` for a query with `group by`.

    Grouping sets, cube and rollup become margins, counts become measures, a minimum in `having` the
    minimum. Raises SourceError for a query that is none of counts.
    """
    select = _parsed(query)
    asked = Asked()
    _groups(select, asked)
    _measures(select, asked)
    _minimum(select, asked)
    stem, source = _source(select, asked)
    person = asked.person.name if asked.person is not None else None
    rule = f", dominance: {{p: {DOMINANCE}}}" if asked.dominance else ""
    lines = [
        "# A draft for the query of a table of counts.",
        "# Small groups, and what would give them away, are not shown.",
        "version: 1",
        source,
        f"person: {scalar(person)}"
        if person is not None
        else "# Without it every row counts as a person: person: COLUMN",
        "aggregate:",
        f"  by: {{{', '.join(f'{scalar(name)}: ' for name in asked.columns)}}}",
        f"  margins: {_margins(asked)}",
        "  measures:",
        *(f"    {scalar(name)}: {said}" for name, said in asked.measures.items()),
        *(f"    # {comment(said)}" for said in asked.left_out),
        f"protect: {{minimum: {asked.minimum}{rule}}}    # {AUDIENCE}",
        "# rest leaves small groups out of the table and its totals; suppress keeps true figures,",
        "# and hides some of them (it needs the extra aggregate).",
        "method: rest",
        f"publish: {{name: {scalar(stem + '_counts')}, database: {release_file(stem)}}}",
    ]
    text = "\n".join(lines) + "\n"
    Policy.loads(text, base)  # an invalid draft is a bug in this tool
    return Draft(text, {}, None, person)


def _refuse(said: str, hint: str) -> SourceError:
    return SourceError([Problem(PATH, said, hint=hint)])


def _parsed(query: str) -> exp.Select:
    example = "select region, count(*) from visits group by cube(region)"
    try:
        (tree,) = sqlglot.parse(query, read="duckdb")
    except (sqlglot.ParseError, sqlglot.TokenError, ValueError):
        raise _refuse("cannot be read", f"one query, as: {example}") from None
    if not isinstance(tree, exp.Select) or tree.args.get("group") is None:
        raise _refuse("has no groups", example)
    for part in ("distinct", "qualify", "windows", "limit", "offset"):
        if tree.args.get(part) is not None:
            raise _refuse(f"has `{part}`", "leave it out: the release has all groups")
    if tree.find(exp.Window) is not None:
        raise _refuse("has window functions", "leave them out")
    return tree


def _outputs(select: exp.Select) -> Iterator[tuple[str, exp.Expr]]:
    """What is selected, with its name."""
    for one in select.expressions:
        yield one.alias_or_name or one.sql(), one.unalias()


def _groups(select: exp.Select, asked: Asked) -> None:
    group = select.args["group"]
    named = dict(_outputs(select))
    selected = [*named.values()]

    def name_of(key: exp.Expr) -> str:
        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(selected):
            key = selected[int(key.name) - 1]
        key = key.unnest()
        if isinstance(key, exp.Column) and not key.table and key.name in named:
            key = named[key.name]
        found = next((name for name, value in named.items() if value == key), None)
        name = found or key.name
        if not name:
            raise _refuse("groups by an expression without a name", "select it as a name")
        asked.columns.setdefault(name, key)
        return name

    def names_of(keys: Sequence[exp.Expr]) -> list[str]:
        return [name_of(key) for key in keys]

    # (versions of the parser differ in where cube and its kin stand)
    parts = [*group.expressions, *(p for kind in KINDS for p in group.args.get(kind) or ())]
    sets: list[tuple[str, ...]] = [()]
    plain = [part for part in parts if not isinstance(part, GROUPINGS)]
    if group.args.get("all"):
        plain = [value for value in selected if value.find(exp.AggFunc) is None]
    first = tuple(names_of(plain))
    for part in parts:
        if isinstance(part, GROUPINGS):
            sets = [(*one, *more) for one in sets for more in _sets(part, names_of)]
    every = [tuple(dict.fromkeys((*first, *one))) for one in sets]
    known = tuple(asked.columns)
    if len({*map(frozenset, every)}) == 2 ** len(known):
        return
    asked.margins = tuple(tuple(n for n in known if n in one) for one in dict.fromkeys(every))


def _sets(
    grouping: exp.Expr, names_of: Callable[[Sequence[exp.Expr]], list[str]]
) -> list[tuple[str, ...]]:
    """The groupings that cube, rollup or grouping sets stand for."""
    keys = grouping.expressions
    members = [names_of(key.expressions if isinstance(key, exp.Tuple) else [key]) for key in keys]
    if isinstance(grouping, exp.GroupingSets):
        return [tuple(one) for one in members]
    if isinstance(grouping, exp.Rollup):
        ends = range(len(members), -1, -1)
        return [tuple(name for one in members[:end] for name in one) for end in ends]
    chosen = (some for n in range(len(members), -1, -1) for some in combinations(members, n))
    return [tuple(name for one in some for name in one) for some in chosen]


def _measures(select: exp.Select, asked: Asked) -> None:
    for one in select.expressions:
        name, value = one.alias, one.unalias()
        if value.find(exp.AggFunc) is None:
            if value not in asked.columns.values():
                asked.left_out.append(f"{value.sql()}: is neither a group nor a figure")
            continue
        counted = value
        if isinstance(value, exp.Case):  # case when count(*) >= 5 then count(*) end
            asked.minimum = max(asked.minimum, *_bounds(value), 3)
            counted = value.args["ifs"][0].args["true"]
        if isinstance(counted, exp.Sum) and isinstance(counted.this, exp.Column):
            column = counted.this
            asked.sums.append(column)
            asked.measures[name or f"sum_{column.name}"] = f"{{sum: {scalar(column.name)}}}"
            continue
        if not isinstance(counted, exp.Count):
            said = MEAN if isinstance(counted, exp.Avg) else SINGLE
            asked.left_out.append(
                f"{counted.sql()}: {NAMED if isinstance(counted, exp.Sum) else said}"
            )
            continue
        if isinstance(counted.this, exp.Distinct):
            if asked.person is not None or len(counted.this.expressions) != 1:
                asked.left_out.append(f"{counted.sql()}: {SINGLE}")
                continue
            asked.person = counted.this.expressions[0]
            asked.measures[name or "persons"] = "{count: persons}"
        elif isinstance(counted.this, exp.Star) or counted.this is None:
            asked.measures[name or "rows"] = "{count: rows}"
        else:
            asked.left_out.append(f"{counted.sql()}: count(*) counts all rows")
    rows = "{count: rows}" in asked.measures.values()
    if asked.person is None and not rows:
        asked.measures["rows"] = "{count: rows}"
    asked.dominance = bool(asked.sums) or (asked.person is not None and rows)


def _minimum(select: exp.Select, asked: Asked) -> None:
    having = select.args.get("having")
    if having is not None:
        asked.minimum = max(3, *_bounds(having.this), 0) if [*_bounds(having.this)] else MINIMUM


def _bounds(condition: exp.Expr) -> Iterator[int]:
    """Lower bounds of counts in a condition."""
    for one in condition.find_all(exp.GTE, exp.GT):
        bound = one.expression
        if one.this.find(exp.Count) is not None and isinstance(bound, exp.Literal) and bound.is_int:
            yield int(bound.name) + isinstance(one, exp.GT)


def _source(select: exp.Select, asked: Asked) -> tuple[str, str]:
    """A name for the release, and the source of the policy."""
    read = select.args.get("from_") or select.args.get("from")
    if read is None:
        raise _refuse("reads no table", "select … from TABLE group by …")
    table = read.this
    stem = table.name or table.alias or "query"
    plain = isinstance(table, exp.Table) and not any(
        select.args.get(part) for part in ("where", "joins", "laterals", "with_", "with")
    )
    keys = {**asked.columns}
    if asked.person is not None:
        keys[asked.person.name or "person"] = asked.person
    keys |= {column.name: column for column in asked.sums}
    simple = all(isinstance(key, exp.Column) and key.name == name for name, key in keys.items())
    if plain and simple and file_format(table.name) and not table.db:
        return Path(table.name).stem, f"source: {{file: {scalar(table.name)}}}"
    if plain and simple and not table.alias:
        return stem, f"source: {{table: {scalar(table.sql(dialect='duckdb'))}}}"
    inner = select.copy()
    for part in ("group", "having", "order"):
        inner.set(part, None)
    listed = (exp.alias_(key.copy(), name, quoted=True) for name, key in keys.items())
    inner.set("expressions", [*listed])
    if asked.person is not None and not asked.person.name:
        asked.person = exp.column("person")
    return stem, f"source: {{query: {scalar(inner.sql(dialect='duckdb'))}}}"


def _margins(asked: Asked) -> str:
    if asked.margins is None:
        return "all"
    if asked.margins == (tuple(asked.columns),):
        return "none"
    listed = (f"[{', '.join(map(scalar, one))}]" for one in asked.margins)
    return f"[{', '.join(listed)}]"
