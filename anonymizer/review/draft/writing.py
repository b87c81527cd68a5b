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
"""Columns with role quasi from which a draft says what they cost."""
MOST_WITH_TREES = 6
"""Columns with role quasi up to which codes get a hierarchy: beyond, all would become its root."""
K = 5
L = 3
T = 0.3
DOMINATED = 1.25
"""Values per occurrence of the commonest one below which nearly all rows have it: 80 %."""
MOST_JUDGED = 20_000_000
"""Rows times quasi and sensitive columns up to which every cut is judged by what it loses."""
TAKEN = ("class_id", ROW_REF)
"""Names of published columns that are the tool's."""
REVIEW = "Review every role: only you know what others know, and what people want kept secret."
AUDIENCE = "5 inside an organization; 11 or more for the public"
LIMIT = "at most this share may be left out; more fails the run"


def own_names(guesses: Mapping[str, Guess], taken: Collection[str]) -> dict[str, Guess]:
    """Columns that would be published under a name of the tool's own, which are dropped."""
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
    """The line of the algorithm."""
    if rows * quasi * sensitive > MOST_JUDGED:
        said = "quicker on a table of this size; split: loss loses less"
        return f"algorithm: {{name: mondrian, split: median}}   # {said}"
    return "algorithm: {name: mondrian}"


def release_file(stem: str) -> str:
    """The file of the release of a table or database."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', stem)}_release.duckdb"


def column_lines(
    found: Sequence[Profile],
    guesses: Mapping[str, Guess],
    options: Callable[[Profile, Guess], Iterable[str]],
    everybody: str | None,
) -> Iterator[str]:
    """Every column with its role, its options and the reason, and one that the query adds."""
    width = max(len(scalar(p.column)) for p in found)
    for p in found:
        role = guesses[p.column]
        listed = ", ".join([f"role: {role.role}", *options(p, role)])
        named = f"{scalar(p.column)}:".ljust(width + 1)
        yield f"  {named} {{{listed}}}   # {comment(role.reason)}"
    if everybody is not None:
        yield f"  {everybody}: {{role: quasi}}   # added by the query; the same in all rows"


def everybody_source(everybody: str, table: Iterable[str]) -> Iterator[str]:
    """The source with a column that is the same for everybody; `table`: the parts of its name."""
    yield "# Nothing that others may know was found: an added column puts all in one class."
    query = f"select *, 'all' as {everybody} from {'.'.join(map(quote, table))}"
    yield f"source: {{query: {scalar(query)}}}"


def options(p: Profile, role: Guess, quasi: int) -> Iterator[str]:
    """What a column has beside its role; `quasi`: how many columns have that role."""
    if role.role == "quasi" and p.endless:
        yield "kind: categorical"  # no interval holds what is infinite
    suggestion = of_writing(p) if p.text and quasi <= MOST_WITH_TREES else None
    if role.role == "quasi" and suggestion is not None:
        yield f"hierarchy: {suggestion.text}"
    if role.role == "sensitive":
        yield f"protect: {{{rule(p)}}}"


def rule(p: Profile) -> str:
    """Each class has to hold l values, where none is so frequent that this would need large ones.

    Where nearly all have one value, such as none, what is secret are the others: no class may
    hold many more of them than the table.
    """
    frequent = (p.known or 1) / (p.commonest or 1)
    if frequent < DOMINATED:
        return f"t_closeness: {T}"
    return f"l_diversity: {max(2, min(L, p.different or 2, int(frequent)))}"


def indent(lines: Iterable[str], by: int) -> Iterator[str]:
    """Lines, further in."""
    for line in lines:
        yield f"{' ' * by}{line}"


def scalar(text: str) -> str:
    """A text as YAML, in quotes where it needs them."""
    if PLAIN.match(text) and text.lower() not in WORDS_OF_YAML:
        return text
    return '"' + "".join(_character(c) for c in text) + '"'


def _character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    return c if c.isprintable() else f"\\U{ord(c):08x}"


def comment(text: str) -> str:
    """A text on one line, for a comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
