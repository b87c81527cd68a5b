"""A draft policy for a table, with the reason for each role as a comment."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

from anonymizer.compile import ident, join, quote, sql
from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import SourceError
from anonymizer.policy import Policy
from anonymizer.policy.document import plain
from anonymizer.policy.fields import ROW_REF
from anonymizer.policy.values import file_format, file_stem, table_parts
from anonymizer.review.assess.classes import AssessedTable, open_table
from anonymizer.review.draft.guess import Guess, Profile, of_others, profiles, without_quasi
from anonymizer.review.draft.guess import guesses as guess_all
from anonymizer.review.hierarchies import of_writing
from anonymizer.source import column_names
from anonymizer.source.column_names import countable, names_part, repeats_like_persons
from anonymizer.source.profile import kind_of
from anonymizer.source.recognition import Recognized

# The text of drafts: names, comments, and the options of a column.


PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
WORDS_OF_YAML = {"null", "true", "false"}
MANY = 12
"""From this many quasi columns, the draft states their cost."""
MOST_WITH_TREES = 6
"""Up to this many quasi columns, codes get a hierarchy; with more, all would become its root."""
K = 5
L = 3
T = 0.3
DOMINATED = 1.25
"""Known values per occurrence of the most frequent one; below it, that value has over 80 %."""
MOST_JUDGED = 20_000_000
"""Rows times quasi and sensitive columns, up to which all cuts are compared by their loss."""
TAKEN = ("class_id", ROW_REF)
"""Names of published columns that are reserved for the tool."""
REVIEW = "Review every role: only you know what others know, and what people want kept secret."
AUDIENCE = "5 inside an organization; 11 or more for the public"
LIMIT = "at most this share may be left out; more fails the run"


def own_names(guesses: Mapping[str, Guess], taken: Collection[str]) -> dict[str, Guess]:
    """Columns that must be dropped because their published name is reserved for the tool."""
    said = "would be published under a name of the tool's own: rename it in source.query"
    return {
        name: Guess("drop", said)
        for name, one in guesses.items()
        if name.casefold() in taken and one.role not in ("identifier", "drop")
    }


def least_k(units: int) -> int:
    """The k that is drafted for a number of persons."""
    return max(2, min(K, units))


def algorithm(rows: int, quasi: int, sensitive: int) -> str:
    """The policy's line for the algorithm."""
    if rows * quasi * sensitive > MOST_JUDGED:
        said = "quicker on a table of this size; split: loss loses less"
        return f"algorithm: {{name: mondrian, split: median}}   # {said}"
    return "algorithm: {name: mondrian}"


def release_file(stem: str) -> str:
    """File name of the release of a table or database."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', stem)}_release.duckdb"


def column_lines(
    found: Sequence[Profile],
    guesses: Mapping[str, Guess],
    options: Callable[[Profile, Guess], Iterable[str]],
    everybody: str | None,
) -> Iterator[str]:
    """Every column with its role, options and reason, and the column added by the query."""
    width = max(len(scalar(p.column)) for p in found)
    for p in found:
        role = guesses[p.column]
        listed = ", ".join([f"role: {role.role}", *options(p, role)])
        named = f"{scalar(p.column)}:".ljust(width + 1)
        yield f"  {named} {{{listed}}}   # {comment(role.reason)}"
    if everybody is not None:
        yield f"  {everybody}: {{role: quasi}}   # added by the query; the same in all rows"


def everybody_source(everybody: str, table: Iterable[str]) -> Iterator[str]:
    """The source with an added constant column; `table`: the parts of the table's name."""
    yield "# Nothing that others may know was found: an added column puts all in one class."
    query = f"select *, 'all' as {everybody} from {'.'.join(map(quote, table))}"
    yield f"source: {{query: {scalar(query)}}}"


def options(p: Profile, role: Guess, quasi: int) -> Iterator[str]:
    """Options of a column other than its role; `quasi`: the number of quasi-identifiers."""
    if role.role == "quasi" and (p.endless or p.coded):
        yield "kind: categorical"  # no interval holds infinite values, or says something of codes
    suggestion = of_writing(p) if p.text and quasi <= MOST_WITH_TREES else None
    if role.role == "quasi" and (step := step_of(p)) is not None:
        yield f"bounds: {{step: {step}}}"
    if role.role == "quasi" and suggestion is not None:
        yield f"hierarchy: {suggestion.text}"
    if role.role == "sensitive":
        yield f"protect: {{{rule(p)}}}"


def step_of(p: Profile) -> Decimal | None:
    """A step for bounds where two significant digits are coarse: in small ranges of numbers."""
    if kind_of(p.sql_type) != "numeric" or p.endless or p.coded or p.reach is None:
        return None
    if not p.parts:
        return Decimal(2) if p.reach <= 0 else None
    if p.reach > 1:
        return None
    found = re.search(r",\s*(\d+)\)", p.sql_type)
    least = Decimal(5).scaleb(-int(found[1])) if found else Decimal(0)
    step = max(Decimal(1).scaleb(p.reach - 1), least)
    return Decimal(f"{step:f}")


def rule(p: Profile) -> str:
    """The guarantee for a sensitive column: l-diversity with an l that small classes can satisfy.

    If nearly all rows have one value, such as none, the other values are the secret: t-closeness
    then limits their share in a class to about that of the table.
    """
    frequent = (p.known or 1) / (p.commonest or 1)
    if frequent < DOMINATED:
        return f"t_closeness: {T}"
    return f"l_diversity: {max(2, min(L, p.different or 2, int(frequent)))}"


def indent(lines: Iterable[str], by: int) -> Iterator[str]:
    """Indent lines."""
    for line in lines:
        yield f"{' ' * by}{line}"


def scalar(text: str) -> str:
    """Text as a YAML scalar, quoted if necessary."""
    if PLAIN.match(text) and text.lower() not in WORDS_OF_YAML:
        return text
    return '"' + "".join(_character(c) for c in text) + '"'


def flow(value: Any) -> str:
    """A value as YAML in one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{scalar(str(k))}: {flow(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    return scalar(value) if isinstance(value, str) else str(value)


def _character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    return c if c.isprintable() else f"\\U{ord(c):08x}"


def comment(text: str) -> str:
    """Text on one line, for a comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


# A draft policy for a table, with the reason for each role as a comment. To be reviewed.


@dataclass(frozen=True, slots=True)
class Draft:
    """A policy as text, and the guesses it is based on."""

    text: str
    guesses: dict[str, Guess]
    key: str | None
    person: str | None
    spoilt: Mapping[str, str] = field(default_factory=dict)
    """Columns of the file that were not read as they are meant, each with what is wrong."""

    def __str__(self) -> str:
        return self.text

    def as_dict(self) -> dict[str, Any]:
        return {
            "policy": self.text,
            "columns": {n: {"role": g.role, "reason": g.reason} for n, g in self.guesses.items()},
            "key": self.key,
            "person": self.person,
        }


def draft(
    table: str, database: Database = None, *, base: str | Path = ".", limits: Limits | None = None
) -> Draft:
    """Draft a policy for `table` of `database`, or for a data file.

    `base`: the folder of the policy file, to which its paths are relative. Raises SourceError if
    the table is not found or no column can be a quasi-identifier.
    """
    with open_table(table, database, limits=limits, recognizes=True) as opened:
        found = profiles(opened, identifiers=True)
        if found and found[0].rows < 2:
            said = "one row, which no other row can hide" if found[0].rows else "no rows"
            raise SourceError.at("TABLE", f"has {said}", hint="a release needs two rows or more")
        guesses = guess_all(opened, found)
        guesses |= own_names(guesses, TAKEN)
        numbers = column_names.NUMBERED
        key = next(
            (p.column for p in found if p.unique and column_names.says(p.column, numbers)), None
        )
        person, perhaps = _person(found, guesses, key)
        guesses |= _others(opened, found, guesses, key)
        file = opened.is_file
        everybody = without_quasi(found, guesses, file=file, key=key)
        form = file_format(table) if file else None
        varying = _varying(opened, guesses, person)
        like = {} if varying else followers(opened, found, guesses)
        stem = file_stem(table) if form else table_parts(table)[-1]
        path = relative(table, base) if form else None
        lines = [
            f"# A draft for {stem} ({found[0].rows:,} rows), made from names, types and counts.",
            f"# {REVIEW}",
            "version: 1",
            *source_lines(table, path, everybody, opened.recognized),
            *_key_lines(key, person, perhaps),
            *_column_lines(found, guesses, varying, everybody, like),
            *_privacy_lines(found, guesses, person),
            *_publish_lines(stem),
        ]
        text = "\n".join(lines) + "\n"
    Policy.loads(text, base)  # an invalid draft is a bug in this tool
    return Draft(text, guesses, key, person, opened.recognized.spoilt)


# Columns that follow from others: published `like` them, they tell no more.


MOST_COMPARED = 12
"""Quasi-identifiers that are compared with each other, at most: the work grows with the pairs."""
ROWS_A_VALUE = 10
"""Rows that a value has on average, so that another column follows from it by no chance."""


def followers(
    opened: AssessedTable, found: Sequence[Profile], guesses: Mapping[str, Guess]
) -> dict[str, str]:
    """Quasi-identifiers of which every value follows from the value of another one, with that one.

    A column that others follow from follows from none itself. One pass over the table.
    """
    listed = [p for p in found if guesses[p.column].role == "quasi" and (p.different or 0) > 1]
    counts = {p.column: p.different or 0 for p in listed}
    pairs = [
        (one.column, other.column)
        for other, one in permutations(listed, 2)
        if counts[one.column] <= counts[other.column] <= other.known / ROWS_A_VALUE
    ]
    if not pairs or len(listed) > MOST_COMPARED:
        return {}
    values = {
        name: sql("coalesce({v}, '')", v=sql("cast({c} as varchar)", c=ident(name)))
        for name in counts
    }
    tests = [
        sql("count(distinct {o} || chr(1) || {v}) = count(distinct {o})", o=values[o], v=values[v])
        for v, o in pairs
    ]
    text = sql("select {t} from {r}", t=join(tests), r=opened.relation.sql).text
    (row,) = opened.engine.raw(text, "TABLE")
    follows = [pair for pair, holds in zip(pairs, row, strict=True) if holds]
    chosen: dict[str, str] = {}
    # from the column with fewest values, and of two that follow from each other the first
    for name, other in sorted(follows, key=lambda pair: counts[pair[1]]):
        if name not in chosen and other not in chosen and name not in chosen.values():
            chosen[name] = other
    return chosen


def _person(
    found: tuple[Profile, ...], guesses: dict[str, Guess], key: str | None
) -> tuple[str | None, Profile | None]:
    """The column that identifies persons with several rows, and a candidate if none is certain.

    If several columns qualify, the one with most values is chosen. A household is only a candidate:
    its rows are of several persons.
    """
    told = [
        p
        for p in found
        if countable(p.sql_type)
        and not (p.free_text or column_names.names_related(p.column))
        and not names_part(p.column)
        and guesses[p.column].role == "identifier"
    ]
    named = [p for p in told if column_names.names_person(p.column)]
    if any(p.unique for p in named):
        return None, None  # every row is a different person
    repeating = [
        p
        for p in told
        if p.column != key and repeats_like_persons(p.column, p.different or 0, p.known)
    ]
    groups = column_names.GROUPS
    likely = [p for p in repeating if p in named and not column_names.says(p.column, groups)]
    sure = max(
        (p for p in likely if p.known == p.rows), key=lambda p: p.different or 0, default=None
    )
    if sure is not None:
        return sure.column, None
    return None, max(likely or repeating, key=lambda p: p.different or 0, default=None)


def _others(
    opened: AssessedTable, found: tuple[Profile, ...], guesses: dict[str, Guess], key: str | None
) -> dict[str, Guess]:
    """Columns that refer to other rows of the table."""
    shown = [p for p in found if guesses[p.column].role not in ("identifier", "drop")]
    rows = opened.relation
    own = next((p for p in found if p.column == key), None)
    return of_others(opened.engine, rows, shown, rows, own, "this table") if own else {}


def _varying(opened: AssessedTable, guesses: dict[str, Guess], person: str | None) -> int:
    """Number of persons whose rows differ in a quasi-identifier."""
    quasi = [ident(name) for name, found in guesses.items() if found.role == "quasi"]
    if person is None or not quasi:
        return 0
    found = opened.select("drafting/varying", "persons", person=ident(person), columns=quasi)
    return int(found[0][0])


def relative(file: str, base: str | Path) -> str:
    """The path of a file from the folder of the policy, with slashes."""
    return os.path.relpath(Path(file).resolve(), Path(base).resolve()).replace(os.sep, "/")


def source_lines(
    table: str, file: str | None, everybody: str | None, recognized: Recognized
) -> Iterator[str]:
    """Source lines of the policy: a file, a table, or a query that adds the column `everybody`."""
    if file is not None:
        named = f"file: {scalar(file)}"
        given = plain(recognized.read, defaults=False)
        if not given and not recognized.notes:
            yield f"source: {{{named}}}"
            return
        yield from ("source:", f"  {named}")
        if given:
            yield "  read:   # found from the file; the same for the next one: run --source FILE"
            yield from (f"    {name}: {flow(value)}" for name, value in given.items())
        yield from (f"  # {note}" for note in recognized.notes)
    elif everybody is not None:
        yield from everybody_source(everybody, table_parts(table))
    else:
        yield f"source: {{table: {scalar(table)}}}"


def _key_lines(key: str | None, person: str | None, perhaps: Profile | None) -> Iterator[str]:
    if key is not None:
        yield f"key: {scalar(key)}   # unique and never NULL; distinguishes rows, never published"
    if person is not None:
        yield f"person: {scalar(person)}   # several rows per person: guarantees count persons"
    if perhaps is not None:
        mean = perhaps.known / (perhaps.different or 1)
        yield (
            f"# person: {scalar(perhaps.column)}   # {mean:.1f} rows per value: if it tells whose"
            " row it is, name it, or guarantees count rows"
        )
        if perhaps.known < perhaps.rows:
            yield f"#   ({perhaps.rows - perhaps.known:,} rows have none, which a run refuses)"


def _column_lines(
    found: tuple[Profile, ...],
    guesses: dict[str, Guess],
    varying: int,
    everybody: str | None,
    like: Mapping[str, str],
) -> Iterator[str]:
    """The columns of the policy; `like`: those that follow from others."""

    def listed(p: Profile, role: Guess) -> Iterator[str]:
        if p.column in like:
            yield f"like: {scalar(like[p.column])}"
        yield from options(p, role, quasi)

    if varying:
        said = f"{varying:,} persons have rows that differ in a quasi column"
        yield f"merge_person_rows: true     # {said}"
    quasi = _count(guesses, "quasi")
    if quasi > MANY:
        yield f"# {quasi} columns are quasi: the more there are, the wider every class gets."
        yield "# If the release loses too much, drop what is needed least."
    yield "columns:                    # identifier, quasi, sensitive, keep, drop"
    yield from column_lines(found, guesses, listed, everybody)


def _privacy_lines(
    found: tuple[Profile, ...], guesses: dict[str, Guess], person: str | None
) -> Iterator[str]:
    rows = found[0].rows
    units = next((p.different or 0 for p in found if p.column == person), rows)
    yield f"privacy: {{k_anonymity: {least_k(units)}}}    # {AUDIENCE}"
    yield f"suppression_limit: 0.05     # {LIMIT}"
    yield "# Trees for codes, dates, places and categories: anonymizer hierarchy suggest."
    yield algorithm(rows, _count(guesses, "quasi"), _count(guesses, "sensitive"))


def _publish_lines(stem: str) -> Iterator[str]:
    yield "# Will the same people be released again? From the first release on: a ledger in a"
    yield "# folder that nobody else reads, which refuses what two releases tell together, and"
    yield "# classes that stay while people join and leave. Needs a key or a person."
    yield "# ledger: private/ledger.duckdb"
    yield "# republish: {follow: true}"
    yield "# A file of its own: who gets the release must not get the raw table with it."
    yield "# Intervals begin and end with steps, not with values of rows: columns.<name>.bounds."
    yield f"publish: {{name: {scalar(stem + '_anonymous')}, database: {release_file(stem)},"
    yield "          bounds: grid}"


def _count(guesses: dict[str, Guess], role: str) -> int:
    return sum(one.role == role for one in guesses.values())
