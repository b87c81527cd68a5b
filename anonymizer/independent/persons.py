"""Identity-reserved models, and candidates left to an observer who knows rows of a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

from anonymizer.independent.cells import Value
from anonymizer.independent.rules import Figure, Finding, Group, Rule, Terms, upper

# Identity-reserved models, for releases in which a person has several rows.
#
# IR: Tong, Tao, Tang and Yang 2010. Enhanced (EIR): Wang, Du, Luo and Li 2018. A person without any
# value counts towards k, but is excluded from everything else.
#
# Shares of records (alpha of both families, and beta of IR) have to hold both over the published
# rows and over distinct (person, value) pairs; the figure is the larger of the two.
#
# In a class in which nobody has a value, l is 0 and fails. Its beta is 0/0 and fails too, as in
# `diversity`.


INFINITE = float("inf")
Family: TypeAlias = Collection[frozenset[Value | None]]


def ir_kl(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """At least k persons and l distinct values."""
    terms.only("k", "l")
    k, l, nulls = terms.integer("k"), terms.integer("l"), terms.null_as_value

    def judge(group: Group) -> Finding:
        persons, values = len(group.units), len(group.counts(nulls=nulls))
        return Finding({"k": persons, "l": values}, persons >= k and values >= l, not values)

    return Rule({"k": k, "l": l}, {"k": min, "l": min}, judge)


def ir_alpha_beta(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """No person with more than alpha of the records, no value in more than beta of them."""
    return _alpha_beta(terms, enhanced=False)


def eir_alpha_beta(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """No person with more than alpha of the records, no value held by more than beta of the
    persons: then no choice of one value per person has it more often (Theorem 3.2).
    """
    return _alpha_beta(terms, enhanced=True)


def _alpha_beta(terms: Terms, *, enhanced: bool) -> Rule:
    terms.only("alpha", "beta")
    alpha, beta = terms.number("alpha"), terms.number("beta")
    nulls = terms.null_as_value

    def judge(group: Group) -> Finding:
        of_person = max(
            _largest(unit for unit, _ in group.known_rows),
            _largest(unit for unit, _ in group.pairs),
        )
        if enhanced:
            held = group.holdings(nulls=nulls)
            most = max(group.counts(nulls=nulls).values(), default=0)
            of_value = Fraction(most, len(held)) if held else INFINITE
        else:
            of_value = max(
                _largest(value for _, value in some if nulls or value is not None)
                for some in (group.known_rows, group.pairs)
            )
        empty = not group.counts(nulls=nulls)
        holds = of_person <= upper(alpha) and of_value <= upper(beta) and not empty
        return Finding({"alpha": of_person, "beta": of_value}, holds, empty)

    return Rule({"alpha": alpha, "beta": beta}, {"alpha": max, "beta": max}, judge)


def eir_l(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """At least l distinct values in every choice of one value per person.

    Equivalently, the smallest set with a value of every person has l members (Theorem 3.1: such a
    set yields a choice, and the values of a choice form such a set). The figure is that size, or l
    if it is not smaller.
    """
    terms.only("l")
    l, nulls = terms.integer("l"), terms.null_as_value

    def judge(group: Group) -> Finding:
        families = [frozenset(held) for held in group.holdings(nulls=nulls).values()]
        found = min(hitting_set(families, l), l) if families else 0
        return Finding({"l": found}, found >= l, not families)

    return Rule({"l": l}, {"l": min}, judge)


def hitting_set(families: Iterable[frozenset[Value | None]], limit: int) -> int:
    """The size of a smallest set that hits every family, or `limit` if none is smaller.

    All sets of one size are tried before those of the next: the set has to contain some value of
    the smallest family that is not hit yet. Disjoint families bound the size from below.
    """
    kept = _smallest_only(set(families))
    for size in range(_disjoint(kept), limit):
        if _met_by(kept, size):
            return size
    return limit


def _met_by(families: Family, size: int) -> bool:
    if not families:
        return True
    if _disjoint(families) > size:
        return False
    first = min(families, key=len)
    return any(_met_by([f for f in families if value not in f], size - 1) for value in first)


def _smallest_only(families: set[frozenset[Value | None]]) -> Family:
    """The minimal families: one that contains another is hit whenever that is."""
    return [one for one in families if not any(other < one for other in families)]


def _disjoint(families: Family) -> int:
    """The number of pairwise disjoint families found greedily; each needs a separate value."""
    used: set[Value | None] = set()
    found = 0
    for family in sorted(families, key=len):
        if used.isdisjoint(family):
            used |= family
            found += 1
    return found


def _largest(items: Iterable[Hashable]) -> Figure:
    """The share of the most frequent item; infinite without items."""
    counts = Counter(items)
    return Fraction(max(counts.values()), sum(counts.values())) if counts else INFINITE


# Candidates left to an observer who knows rows of a person: k^m-anonymity in a class.
#
# A choice is any at most m of a person's published rows. A person remains if, for each chosen row,
# they have a separate row that looks the same (Terrovitis, Mamoulis and Kalnis 2008, with rows that
# may repeat). Rows that look the same differ only in their number: a person with n equal rows
# remains for every choice that has the row at most n times.


Persons: TypeAlias = int
"""A set of persons of a class, as one bit per person."""
Rows: TypeAlias = Mapping[Any, int]
"""Number of times that a person has each row, by its table and published cells."""


def remaining(held: Sequence[Rows], m: int) -> set[Persons]:
    """The remaining persons for each choice of at most m rows of some person of the class."""
    nobody_known = {(1 << len(held)) - 1}
    repeated = _persons_with_repeats(held, m)
    # found[c]: after choices of at most c rows; n rows of another kind make them c + n
    found = [nobody_known]
    for chosen in range(1, m + 1):
        after = set(found[-1])
        for times, having in repeated.items():
            if times <= chosen:
                after.update(some & one for some in found[chosen - times] for one in having)
        after.discard(0)
        found.append(after)
    return found[m]


def _persons_with_repeats(held: Sequence[Rows], m: int) -> dict[int, set[Persons]]:
    """For each number up to m, the sets of persons with at least that many equal rows."""
    having: dict[tuple[Hashable, int], Persons] = {}
    for place, rows in enumerate(held):
        for row, count in rows.items():
            for times in range(1, min(count, m) + 1):
                having[row, times] = having.get((row, times), 0) | 1 << place
    found: dict[int, set[Persons]] = {}
    for (_, times), some in having.items():
        found.setdefault(times, set()).add(some)
    return found


Line: TypeAlias = tuple[tuple[Hashable, Hashable], ...]
"""A row with those above it, the highest first: which row each is, and what it shows."""


def remaining_joined(held: Sequence[Sequence[Line]], m: int) -> set[Persons]:
    """The same where the rows above the chosen ones are known as well, and which are shared.

    What is known is then a tree: whoever has rows of the same shape that show the same remains.
    """
    having: dict[Hashable, Persons] = {}
    for place, lines in enumerate(held):
        for shape in _shapes(lines, m):
            having[shape] = having.get(shape, 0) | 1 << place
    return {(1 << len(held)) - 1, *having.values()}


def _shapes(lines: Sequence[Line], m: int) -> set[Hashable]:
    """The shapes of all trees of at most m rows with those above them."""
    copies: Counter[Hashable] = Counter()
    kept = []
    inner = {line[-2][0] for line in lines if len(line) > 1}
    for line in lines:
        # of rows that are alike, under one row, more than m say nothing else
        alike = (line[:-1], line[-1][1]) if line[-1][0] not in inner else line
        copies[alike] += 1
        if copies[alike] <= m:
            kept.append(line)
    found: set[Hashable] = set()
    for size in range(1, m + 1):
        for chosen in combinations(kept, size):
            tree: dict[Any, Any] = {}
            for line in chosen:
                node = tree
                for row in line:
                    node = node.setdefault(row, {})
            found.add(_shape(tree))
    return found


def _shape(tree: Mapping[Any, Any]) -> Hashable:
    """What the rows of a tree show, whichever rows they are and in any order."""
    return frozenset(Counter((shown, _shape(below)) for (_, shown), below in tree.items()).items())
