"""The text of drafts: names, comments, and the options of a column."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from anonymizer.compile import quote
from anonymizer.policy.names import ROW_REF
from anonymizer.review.draft.guess import Guess
from anonymizer.review.draft.profiles import Profile
from anonymizer.review.suggest.rules import of_writing

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
    if role.role == "quasi" and p.endless:
        yield "kind: categorical"  # no interval holds infinite values
    suggestion = of_writing(p) if p.text and quasi <= MOST_WITH_TREES else None
    if role.role == "quasi" and suggestion is not None:
        yield f"hierarchy: {suggestion.text}"
    if role.role == "sensitive":
        yield f"protect: {{{rule(p)}}}"


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


def _character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    return c if c.isprintable() else f"\\U{ord(c):08x}"


def comment(text: str) -> str:
    """Text on one line, for a comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
