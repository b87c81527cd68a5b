"""Hierarchies of columns over their source: suggested, built, shown, and exported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from math import ceil, floor, log2, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anonymizer.compile import Table, ident, lit, quote, sql, work
from anonymizer.errors import AnonymizerError, Problem, SourceError, TargetError
from anonymizer.hierarchy import exchange, levels
from anonymizer.hierarchy.levels import HierarchyDrawing, Node, show
from anonymizer.hierarchy.sets import MOST_VALUES
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.hierarchies import DATE_LEVELS
from anonymizer.policy.paths import column_path
from anonymizer.review.assess.classes import AssessedTable
from anonymizer.review.draft.guess import FEW, Profile, profiles
from anonymizer.source import column_names
from anonymizer.source.profile import kind_of

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.engines.duckdb.connection import DuckDBEngine
    from anonymizer.engines.session import Database, Session
    from anonymizer.source.profile import Attribute, Sensitive

Described = TypeVar("Described", "Attribute", "Sensitive")

KIND = "hierarchy"
"""The kind under which a database's record lists the tables made here."""
WIDE = work("wide_hierarchy")


@dataclass(frozen=True, slots=True)
class Built:
    """One hierarchy in the scratch of an open session."""

    session: Session
    column: str
    index: int
    sql_type: str
    builder: str
    height: int
    nested: bool = True
    """True if its levels are meant to nest."""

    def drawing(self, *, published: bool = False) -> HierarchyDrawing:
        """Its nodes with counts and distortion; `published` by the formulas of the paper's Table 4.

        Raises SourceError if that table has no formula for the builder.
        """
        if published and self.builder not in levels.PUBLISHED:
            raise SourceError.at(
                column_path(self.column, "hierarchy", "builder"),
                f"{self.builder} has no formula in Table 4",
                allowed=", ".join(levels.PUBLISHED),
            )
        return show(
            self.session.engine,
            self.index,
            column=self.column,
            sql_type=self.sql_type,
            builder=self.builder,
            published=published,
        )

    def to_csv(self, path: Path) -> int:
        """Write it in ARX's layout and return the number of values."""
        try:
            return exchange.export_csv(self.session.engine, self.index, path)
        except OSError:
            hint = "the folder must exist and be writable"
            raise TargetError.at("-o", f"{path.name} cannot be written", hint=hint) from None

    def wide(self) -> Wide:
        """Its wide table: value, level_1 to level_h, and bounds of ordered kinds."""
        engine = self.session.engine
        bounds = self.builder in levels.INTERVALS
        step = exchange.export_table(self.index, self.height, WIDE, bounds=bounds)
        engine.raw(step.statement().text, step.name)
        columns = engine.describe(ident(WIDE).text, step.name)
        # cast to text, so that values without a SQL literal or Python type survive the round trip
        texts = f"select columns(*)::varchar from {ident(WIDE)} order by rowid"
        rows = engine.raw(texts, step.name)
        return Wide(tuple(columns), tuple(rows))


@dataclass(frozen=True, slots=True)
class Wide:
    """A hierarchy as a table: names and types of its columns, and a row of texts per value."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str | None, ...], ...]


@contextmanager
def built(
    policy: AnyPolicy, database: Database, columns: Sequence[str] = (), limits: Limits | None = None
) -> Iterator[tuple[Built, ...]]:
    """Build the hierarchies of `columns` (default: all that have one) over the policy's source.

    Columns of several tables are named with their table. Raises SourceError for a column without a
    hierarchy, and any error from building one.
    """
    _refuse_unknown(policy, columns)
    with ExitStack() as opened:
        made: list[Built] = []
        for at, single in policy.apart.items():
            wanted = [c for c, of in single.columns.items() if of.hierarchy is not None]
            wanted = [c for c in wanted if not columns or at + c in columns]
            if wanted:
                made += opened.enter_context(_built_in(single, at, database, wanted, limits))
        yield tuple(made)


@contextmanager
def _built_in(
    policy: Policy, at: str, database: Database, columns: Sequence[str], limits: Limits | None
) -> Iterator[tuple[Built, ...]]:
    """The same of one table; `at`: the prefix of its columns."""
    from anonymizer.engines.duckdb.source import open_session
    from anonymizer.engines.execute import Executor
    from anonymizer.run.prepare import hierarchy_stages
    from anonymizer.source.profile import published_type
    from anonymizer.source.roles import roles
    from anonymizer.source.snapshot import reading_steps, values_steps

    with open_session(policy, database, limits=limits) as session:
        everything = roles(policy, session.profile).without_masks
        wanted = replace(
            everything,
            quasi=tuple(a for a in everything.quasi if a.column in columns),
            sensitive=tuple(s for s in everything.sensitive if s.column in columns),
        )
        reading = reading_steps(policy, session.profile, everything, session.source)
        Executor(session.engine).run(
            [*reading, *values_steps(wanted), *hierarchy_stages(policy, wanted, session)]
        )
        numbered: list[tuple[Attribute | Sensitive, int]]
        numbered = [(a, a.index) for a in wanted.quasi]
        numbered += [(s, s.hierarchy_index) for s in wanted.sensitive]
        made = []
        for a, index in numbered:
            spec = policy.columns[a.column].hierarchy
            assert spec is not None
            height = session.engine.raw(
                f"select coalesce(max(level), 0) from {ident(work(f'hierarchy_{index}'))}", a.column
            )[0][0]
            nested = getattr(spec, "mode", None) != "independent" and getattr(spec, "nested", True)
            sql_type = published_type(a.sql_type)
            made.append(
                Built(session, at + a.column, index, sql_type, spec.builder, height, nested)
            )
        yield tuple(made)


def _refuse_unknown(policy: AnyPolicy, columns: Sequence[str]) -> None:
    paths = {name: path for name, path, _ in policy.described}
    having = [name for name, _, column in policy.described if column.hierarchy is not None]
    problems = [
        Problem(column_path(name), "is not a column of the policy", allowed=", ".join(having))
        if name not in paths
        else Problem(
            f"{paths[name]}.hierarchy", "is missing: the column has no hierarchy", ", ".join(having)
        )
        for name in columns
        if name not in having
    ]
    if not having and not columns:
        problems = [Problem("columns", "no column of the policy has a hierarchy")]
    SourceError.refuse(problems)


def store(wide: Wide, database: Path, name: Table, *, replace_it: bool = False) -> None:
    """Write a hierarchy to a table of a database and record it as the tool's, in one transaction.

    Raises TargetError if a table of that name exists and is not a recorded hierarchy, or may not be
    replaced.
    """
    from anonymizer.engines.duckdb.connection import SOURCE
    from anonymizer.engines.duckdb.sandbox import own_connection
    from anonymizer.release import objects

    schema, where = name.schema or "main", "--database"
    table = Table(name.name, schema, SOURCE)
    with own_connection(database.resolve(), read_only=False) as engine:
        ours = {
            (o.schema, o.name) for o in objects.object_entries(engine, SOURCE) if o.kind == KIND
        }
        _refuse_private(engine, schema)
        # the engine treats names that differ only in case as equal
        alike = [o for o in objects.present(engine, SOURCE) if _same(o, (schema, name.name))]
        if alike:
            _refuse_taken(alike[0][1], (schema, name.name) in {*ours} & {*alike}, replace_it)
        engine.raw("begin", where)
        objects.create_record(engine, SOURCE)
        engine.raw(f"create schema if not exists {ident(Table(schema, None, SOURCE))}", where)
        listed = ", ".join(f"{quote(column)} {kind}" for column, kind in wide.columns)
        engine.raw(f"create or replace table {ident(table)} ({listed})", where)
        for at in range(0, len(wide.rows), 500):
            values = ", ".join(
                f"({', '.join(lit(cell).text for cell in row)})" for row in wide.rows[at : at + 500]
            )
            engine.raw(f"insert into {ident(table)} values {values}", where)
        if (schema, name.name) not in ours:
            release = f"{schema}.{name.name}"
            made = objects.ObjectEntry(release, schema, name.name, KIND, "")
            objects.record(engine, SOURCE, [made])
        engine.raw("commit", where)


def _same(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return [part.lower() for part in one] == [part.lower() for part in other]


def _refuse_private(engine: DuckDBEngine, schema: str) -> None:
    """Raises TargetError for databases and schemas in which a further table would do damage."""
    from anonymizer.engines.duckdb.connection import SOURCE
    from anonymizer.ledger.store import SCHEMA as LEDGER
    from anonymizer.release import objects
    from anonymizer.release.integrity import seal_of
    from anonymizer.release.manifest import read_manifest

    if schema.lower() == objects.SCHEMA:
        said = f"is in {objects.SCHEMA}, where the tool keeps its record"
        raise TargetError.at("--table", said, hint="choose another schema")
    held = {other for other, _ in objects.present(engine, SOURCE)}
    alone = (
        seal_of(read_manifest(engine, item.table(SOURCE))).alone
        for item in objects.object_entries(engine, SOURCE)
        if item.kind == "view"
    )
    said = "is a ledger" if LEDGER in held else "contains a release and nothing else"
    if LEDGER in held or any(alone):
        hint = "store it in the database of the source, or in one of its own"
        raise TargetError.at("--database", said, hint=hint)


def _refuse_taken(name: str, ours: bool, replace_it: bool) -> None:
    if not ours:
        said = f"{name} exists and is not a hierarchy that this tool stored"
        raise TargetError.at("--table", said, hint="choose another name")
    if not replace_it:
        said = f"{name} exists"
        raise TargetError.at("--table", said, hint="--replace, or choose another name")


# Rules that choose a hierarchy for a column: by name, type, counts, and range.


DAY = [7, 4, 3]
"""Numbers of leading characters of 2020-01-31 that give its month, year and decade."""
MINUTE = [5, 2]
"""The same for 12:30:00: minute and hour."""
ALIKE = 0.9
"""From this share of rows in one format, a text column counts as having it."""
LONG_CODE = 12
BEGINNING = 16
"""Largest length of a prefix of a text."""
HALVED = 2
"""Each level has at least this many times the nodes of the next, if there are many levels."""
LEVELS = 5
LEAVES = 40
"""Largest number of intervals of the narrowest level of numbers."""
LARGEST = 2**53
"""The largest bound that a policy can contain."""
SMALLEST = 1e-300
DEGREES = [1, 5, 10, 30]
FINE = 0.01
"""Cell width in degrees of a grid over a small area: about a kilometre."""
ENDS = {"latitude": (-90, 90), "longitude": (-180, 180)}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Options of a hierarchy, in the form of a policy, with a reason."""

    options: dict[str, Any]
    reason: str

    @property
    def text(self) -> str:
        """The options as they are written in a policy."""
        return (
            f"{{{', '.join(f'{name}: {_value(value)}' for name, value in self.options.items())}}}"
        )


def _value(value: object) -> str:
    return f"[{', '.join(str(one) for one in value)}]" if isinstance(value, list) else str(value)


def suggestions(p: Profile, ends: tuple[float, float] | None) -> Iterator[Suggestion]:
    """Suitable hierarchies for a column, the best first; `ends`: range of a numeric column."""
    different, kind = p.different or 0, kind_of(p.sql_type)
    if different <= 2 or kind is None:
        return
    if kind == "date":
        yield Suggestion({"builder": "date"}, "dates: by calendar periods")
    elif kind == "numeric":
        if ends is not None and not p.endless and _writable(*ends):
            yield from _of_numbers(p, *ends)
    elif written := of_writing(p):
        yield written
        if different <= FEW:
            yield Suggestion({"builder": "frequency"}, "a category: the rarest are merged first")
    elif different <= MOST_VALUES:
        yield Suggestion({"builder": "frequency"}, "a category: the rarest are merged first")
        if different > FEW and p.text:
            yield _beginnings(p)
    elif p.text:
        yield _beginnings(p)


def why_none(p: Profile, ends: tuple[float, float] | None) -> str:
    """Explain why no hierarchy suits the column."""
    if (kind := kind_of(p.sql_type)) is None:
        return "has a type without one"
    if (p.different or 0) <= 2:
        return "has two values or fewer"
    if p.endless:
        return "has values that are NaN or infinite, which no interval holds"
    if kind == "numeric" and ends is not None:
        return "has numbers too large, or too near to each other, for round bounds"
    return "has too many values to merge"


def pruned(suggestion: Suggestion, p: Profile, nodes: list[int]) -> Suggestion | None:
    """Remove levels that change nothing; None if only the root is left.

    `nodes`: the number of nodes per level, from the lowest to the root.
    """
    options = suggestion.options
    match options["builder"]:
        case "prefix":
            option = "lengths"
            steps: list[Any] = options.get("lengths") or list(range((p.longest or 1) - 1, 0, -1))
        case "date":
            option = "levels"
            steps = [name for name in DATE_LEVELS if not (name == "day" and p.sql_type == "DATE")]
        case _:
            return suggestion
    kept = _kept(steps, nodes, p.different or 0, 1)
    if len(kept) > LEVELS:
        kept = _kept(steps, nodes, p.different or 0, HALVED)
    if not kept:
        return None
    if kept == steps:
        return suggestion
    return Suggestion({**options, option: kept}, suggestion.reason)


def _kept(steps: list[Any], nodes: list[int], values: int, ratio: int) -> list[Any]:
    """The steps of levels with fewer nodes, by at least `ratio`, than the last level kept."""
    kept, below = [], values
    for step, here in zip(steps, nodes[:-1], strict=False):
        if 1 < here < below and here * ratio <= below:
            kept.append(step)
            below = here
    return kept


def of_writing(p: Profile, beyond: int = FEW) -> Suggestion | None:
    """A hierarchy for codes: days as text, postcodes, and texts formatted like codes.

    `beyond`: up to this many different codes are a category, whose values are merged directly.
    """
    known = p.known / p.rows if p.rows else 0.0
    if p.text and (p.like_day or 0.0) > ALIKE * known:
        return Suggestion(
            {"builder": "prefix", "lengths": DAY}, "days as text: month, year, decade"
        )
    if p.sql_type == "TIME":
        return Suggestion({"builder": "prefix", "lengths": MINUTE}, "times: minute and hour")
    if p.sql_type == "UUID":
        return Suggestion({"builder": "prefix", "lengths": [8, 4, 2]}, "a UUID: its beginning")
    if not p.text or (p.longest or 0) < 2:
        return None
    if column_names.says(p.column, column_names.POSTAL):
        return _codes(p, "postcodes: those that begin alike lie beside each other")
    coded = (p.like_code or 0.0) > ALIKE * known and (p.longest or 0) <= LONG_CODE
    if coded and (p.different or 0) > beyond:
        return _codes(p, "codes: those that begin alike are of one group")
    return None


def _codes(p: Profile, reason: str) -> Suggestion:
    longest = p.longest or 1
    if longest - 1 <= LEVELS:
        return Suggestion({"builder": "prefix"}, reason)
    step = longest / LEVELS
    lengths = sorted({round(longest - step * level) for level in range(1, LEVELS)}, reverse=True)
    return Suggestion({"builder": "prefix", "lengths": lengths}, reason)


def _beginnings(p: Profile) -> Suggestion:
    lengths = list(range(min((p.longest or 1) - 1, BEGINNING), 0, -1))
    options: dict[str, Any] = {"builder": "prefix", **({"lengths": lengths} if lengths else {})}
    return Suggestion(options, "texts of many values: by what they begin with")


def _of_numbers(p: Profile, low: float, high: float) -> Iterator[Suggestion]:
    span = high - low
    if span <= 0:
        return
    if place := _place(p, low, high):
        yield place
    elif span >= LEVELS:
        yield _round(p, low, high)
    else:
        # a bound of a column of whole numbers is a whole number
        width = 10.0 ** floor(log10(span / 10)) if p.parts else 1.0
        # the range is the width times a power of two, so that halves have short bounds
        begins = floor(low / width) * width
        doubled = ceil(log2((high - begins) / width))
        domain = [_tidy(begins), _tidy(begins + width * 2.0**doubled)]
        options = dict[str, Any](builder="conventional", min_width=_tidy(width), domain=domain)
        yield Suggestion(options, "numbers within a small range: halved again and again")


def _writable(low: float, high: float) -> bool:
    """True if a policy can contain such bounds, and doubles can represent a tenth of their span."""
    return max(-low, high) <= LARGEST and not 0 < high - low < SMALLEST


def _place(p: Profile, low: float, high: float) -> Suggestion | None:
    """A grid of degrees for latitudes and longitudes, finer for a small area."""
    word = column_names.coordinate(p.column)
    if word is None or low < ENDS[word][0] or high > ENDS[word][1]:
        return None
    if high - low > DEGREES[1]:
        domain = list(ENDS[word])
        options = {"builder": "divisor", "divisors": DEGREES, "domain": domain}
        return Suggestion(options, f"a {word}: cells of a grid, in degrees")
    near: list[float] = [floor(low), max(ceil(high), floor(low) + 1)]
    options = dict[str, Any](builder="conventional", min_width=FINE, domain=near)
    return Suggestion(options, f"a {word} within a few degrees: cells of a grid, halved")


def _round(p: Profile, low: float, high: float) -> Suggestion:
    """Intervals with round bounds; each level is two or five times as wide as the level below."""
    width = 1
    while (high - low) / width > LEAVES:
        width *= _factor(width)
    if width == 1 and (p.different or 0) > LEVELS:
        width = 5
    widths = [width]
    while len(widths) < LEVELS and (wider := widths[-1] * _factor(widths[-1])) <= high - low:
        widths.append(wider)
    begins = min(0, floor(low / widths[-1]) * widths[-1])
    ends = (floor(high / width) + 1) * width - (0 if p.parts else 1)
    options = {"builder": "divisor", "divisors": widths, "domain": [begins, ends]}
    return Suggestion(options, "numbers: intervals with round bounds")


def _factor(width: int) -> int:
    return 5 if str(width)[0] == "1" else 2


def _tidy(number: float) -> float:
    return float(f"{number:.12g}")


# Suggested hierarchies, built over the table: their levels with examples and losses.


EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a suggested hierarchy, from 1; its loss is the mean share of the range per row."""

    level: int
    nodes: int
    loss: float
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BuiltSuggestion:
    """A suggestion with its levels, or the reason why it cannot be built."""

    column: str
    suggestion: Suggestion | None
    levels: tuple[Level, ...] = ()
    refused: str | None = None

    def as_dict(self) -> dict[str, Any]:
        told = self.suggestion
        return {
            "column": self.column,
            "hierarchy": told.options if told else None,
            "reason": told.reason if told else None,
            "refused": self.refused,
            "levels": [{**asdict(one), "examples": list(one.examples)} for one in self.levels],
        }

    def lines(self) -> Iterator[str]:
        """The suggestion as lines of text."""
        if self.suggestion is None:
            yield f"{self.column}: {self.refused}"
            return
        yield f"{self.column}: hierarchy: {self.suggestion.text}   # {self.suggestion.reason}"
        if self.refused is not None:
            yield f"  {self.refused}"
            return
        yield "  level       nodes   loss  examples"
        for one in self.levels:
            examples = " | ".join(one.examples)
            yield f"  {one.level:<5} {one.nodes:>11,}  {one.loss:.3f}  {examples}"


def suggest(
    policy: AnyPolicy, database: Database, columns: Sequence[str] = (), limits: Limits | None = None
) -> tuple[BuiltSuggestion, ...]:
    """Build suggestions for `columns` of a policy's source (default: quasi and event columns).

    Columns of several tables are named with their table. Raises SourceError if the source has no
    such column.
    """
    made: list[BuiltSuggestion] = []
    for name in columns:
        if not name.startswith(tuple(policy.apart)):
            raise SourceError.at("--column", "names no table", hint="--column TABLE.COLUMN")
    for at, single in policy.apart.items():
        own = [name.removeprefix(at) for name in columns if name.startswith(at)]
        if not own and (columns or (at and not single.quasi)):
            continue
        for p, ends in _measured(single, database, own, limits):
            found = [_built(single, database, p, one, ends, limits) for one in suggestions(p, ends)]
            none = BuiltSuggestion(p.column, None, refused=f"no hierarchy: {why_none(p, ends)}")
            made += [replace(one, column=at + one.column) for one in found or [none]]
    return tuple(made)


def _measured(
    policy: Policy, database: Database, columns: Sequence[str], limits: Limits | None
) -> list[tuple[Profile, tuple[float, float] | None]]:
    from anonymizer.engines.duckdb.source import open_session

    with open_session(only_quasi(policy, {}), database, limits=limits) as session:
        opened = AssessedTable(session.embedded, session.source, session.profile.columns)
        wanted = opened.find(columns, "--column") or policy.quasi
        found = [p for p in profiles(opened) if p.column in wanted]
        return [(p, _ends(opened, p) if p.number else None) for p in found]


def _ends(opened: AssessedTable, p: Profile) -> tuple[float, float] | None:
    text = sql(
        "select min({c})::double, max({c})::double from {r}",
        c=ident(p.column),
        r=opened.relation.sql,
    )
    low, high = opened.engine.raw(text.text, p.column)[0]
    return None if low is None else (low, high)


def only_quasi(policy: Policy, hierarchies: dict[str, Any]) -> Policy:
    """The policy over the same source with exactly these quasi columns; if none, its own."""
    columns: dict[str, Any] = {
        name: {"role": "quasi"} if name in policy.quasi and not hierarchies else {"role": "drop"}
        for name in policy.columns
    }
    for name, options in hierarchies.items():
        columns[name] = {"role": "quasi", "hierarchy": options}
    given = {
        "version": 1,
        "source": policy.source.model_dump(exclude_none=True),
        "columns": columns,
        "privacy": {"k_anonymity": 2},
        "algorithm": {"name": "full_domain" if hierarchies else "mondrian"},
        "publish": {"name": "suggested", "database": "suggested.duckdb"},
    }
    return type(policy).model_validate(given, context={"base": policy.base})


def _built(
    policy: Policy,
    database: Database,
    p: Profile,
    suggestion: Suggestion,
    ends: tuple[float, float] | None,
    limits: Limits | None,
) -> BuiltSuggestion:
    try:
        shown = _drawing(policy, database, p.column, suggestion, limits)
        fewer = pruned(suggestion, p, [level.nodes for level in shown.levels])
        if fewer is None:
            return BuiltSuggestion(p.column, suggestion, refused="all its values would be one node")
        if fewer != suggestion:
            suggestion = fewer
            shown = _drawing(policy, database, p.column, suggestion, limits)
    except AnonymizerError as error:
        said = "; ".join(problem.message for problem in error.problems)
        return BuiltSuggestion(p.column, suggestion, refused=f"cannot be built: {said}")
    # loss is relative to the range of the data, which the domain may exceed
    domain = suggestion.options.get("domain")
    wider = 1.0
    if domain and ends and ends[1] > ends[0]:
        wider = max(1.0, (domain[1] - domain[0]) / (ends[1] - ends[0]))
    levels = (
        Level(level, nodes, loss, _examples([n for n in shown.nodes if n.level == level]))
        for level, nodes, loss in losses(shown, wider)
    )
    return BuiltSuggestion(p.column, suggestion, tuple(levels))


def _drawing(
    policy: Policy, database: Database, column: str, suggestion: Suggestion, limits: Limits | None
) -> HierarchyDrawing:
    chosen = only_quasi(policy, {column: suggestion.options})
    with built(chosen, database, limits=limits) as made:
        return made[0].drawing()


def losses(shown: HierarchyDrawing, wider: float = 1.0) -> Iterator[tuple[int, int, float]]:
    """Each level's nodes and mean share lost of a range `wider` times that of the data."""
    for level in shown.levels:
        nodes = [node for node in shown.nodes if node.level == level.level]
        rows = sum(node.rows for node in nodes)
        lost = sum(node.rows * min(1.0, node.share * wider) for node in nodes)
        yield level.level, level.nodes, lost / rows if rows else 0.0


def _examples(nodes: list[Node]) -> tuple[str, ...]:
    """Labels from the beginning, the middle and the end of a level."""
    last = len(nodes) - 1
    places = sorted({0, last // 2, last})[:EXAMPLES]
    return tuple(_short(nodes[at].label) for at in places)


def _short(label: str) -> str:
    tidy = "".join(c if c.isprintable() else "?" for c in label)
    return tidy if len(tidy) <= 40 else tidy[:39] + "…"
