"""The gain of a cut as SQL, and sets of codes as bits of integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from anonymizer.compile import Sql, join, lit
from anonymizer.source.profile import Attribute, Level

# Stores sets of codes as bits of integers: a class's value set is one `bit_or` over its units.
#
# The value sets of several attributes share a word of 64 bits. Counting the different values of a
# class this way costs a tenth of `count(distinct …)`, and needs no memory per value and class. In
# domains that are too large, several codes share a bit, and the sizes are estimates.


WORD_BITS = 62
"""Number of bits used in a word, which stays positive."""

MOST_BITS = 4 * WORD_BITS
"""Size of a domain above which codes share bits, or values are counted one by one."""

MOST_FOLDED_WORDS = 64
"""Most words for all folded attributes together: every unit carries them through every level."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The positions of the attributes' codes in words."""

    columns: tuple[tuple[Sql, Sql], ...]
    """Name of each word, and its value for a row of codes."""
    sizes: Mapping[int, Sql]
    """By index of an attribute: the number of different codes in the words of a class."""
    folded: frozenset[int]
    """Attributes whose codes share bits. Their sizes are estimates, and whole numbers if a class
    needs no bit twice; one code cannot be distinguished from several."""
    bits: Mapping[int, tuple[tuple[str, int], ...]]
    """By index of an attribute whose codes share no bits: the words of its bits, with masks."""

    def count_of(self, index: int, prefix: str) -> str:
        """The number of different codes of an attribute in words with this prefix."""
        parts = (_bit_count(f"{prefix}{word}", mask) for word, mask in self.bits[index])
        return f"({' + '.join(parts)})"


def fits(attribute: Attribute) -> bool:
    """Return whether every code of an attribute gets a separate bit."""
    return attribute.distinct < MOST_BITS


def pack(attributes: Iterable[Attribute]) -> Packed:
    """Assign the codes of all attributes to words, one after the other, except large domains.

    A code below 0 (a sensitive cell) sets no bit.
    """
    return _laid_out([a for a in attributes if fits(a)])


def fold(attributes: Sequence[Attribute]) -> Packed:
    """Assign the codes of all attributes to words, those of large domains modulo their bits.

    The number of different codes is estimated from b set bits of m by linear counting (Whang et al.
    1990): m · ln(m / (m - b)), or the whole domain if no bit is free.
    """
    exact = _laid_out([a for a in attributes if fits(a)])
    large = [a for a in attributes if not fits(a)]
    each = max(1, min(MOST_BITS // WORD_BITS, MOST_FOLDED_WORDS // max(len(large), 1)))
    columns, sizes = list(exact.columns), dict(exact.sizes)
    for a in large:
        own = []
        for place in range(each):
            name = Sql(f"w{len(columns) + 1}")
            own.append(f"cast(bit_count({name}) as integer)")
            here = f"{a.c} >= 0 and {a.c} // {WORD_BITS} % {each} = {place}"
            bit = f"cast(1 as bigint) << cast({a.c} % {WORD_BITS} as bigint)"
            columns.append((name, Sql(f"case when {here} then {bit} else 0 end")))
        bits, used = each * WORD_BITS, f"({' + '.join(own)})"
        domain = a.distinct + 1
        estimate = f"{bits} * ln({bits} / cast(greatest({bits} - {used}, 1) as double))"
        sizes[a.index] = Sql(
            f"case when {used} = {bits} then {domain} else least({domain}, {estimate}) end"
        )
    return Packed(tuple(columns), sizes, frozenset(a.index for a in large), exact.bits)


def _laid_out(attributes: Iterable[Attribute]) -> Packed:
    terms: list[list[str]] = [[]]
    bits: dict[int, list[tuple[str, int]]] = {}
    free = WORD_BITS
    for a in attributes:
        codes = a.distinct + 1
        first = 0
        while first < codes:
            taken = min(codes - first, WORD_BITS)
            if taken > free:
                terms.append([])
                free = WORD_BITS
            offset = WORD_BITS - free
            last = first + taken - 1
            bit = f"cast(1 as bigint) << ({a.c} + {offset - first})"
            terms[-1].append(f"case when {a.c} between {first} and {last} then {bit} else 0 end")
            mask = ((1 << taken) - 1) << offset
            bits.setdefault(a.index, []).append((f"w{len(terms)}", mask))
            free -= taken
            first += taken
    columns = tuple(
        (Sql(f"w{number}"), Sql(" + ".join(word))) for number, word in enumerate(terms, 1) if word
    )
    sizes = {i: Sql(" + ".join(_bit_count(*part) for part in parts)) for i, parts in bits.items()}
    return Packed(columns, sizes, frozenset(), {i: tuple(parts) for i, parts in bits.items()})


def _bit_count(word: str, mask: int) -> str:
    # bit_count returns one byte, which the sum of several exceeds
    return f"cast(bit_count({word} & {mask}) as integer)"


# The gain of a cut, as SQL over the columns of `mondrian/_cuts`.
#
# gain = |C|·loss(C) - |L|·loss(L) - |R|·loss(R), where the loss of a side is the normalized
# certainty penalty (Xu et al. 2006) of the attribute that is cut, as it will be published: an
# interval's share of the domain, a hierarchy node's share of the leaves, a set's share of the
# domain's values; 0 for a single value. For an interval with NULL, NULL counts as one more value of
# the domain.


def by_kind(
    attributes: Sequence[Attribute], expression: Callable[[str], str], which: str = "attribute"
) -> str:
    """A CASE over the kind of the attribute's cells: `range`, `set` or `node`.

    `whole` for sets that show one value or all.
    """
    groups: dict[str, list[int]] = {}
    for attribute in attributes:
        kind = "whole" if shows_all(attribute) else shape(attribute)
        groups.setdefault(kind, []).append(attribute.index)
    whens = " ".join(
        f"when {which} in ({join([lit(i) for i in members])}) then {expression(kind)}"
        for kind, members in groups.items()
    )
    return f"case {whens} end"


def shows_all(attribute: Attribute) -> bool:
    """True if its cells show one value or all of the column."""
    return shape(attribute) == "set" and attribute.grid is not None


def shape(attribute: Attribute) -> str:
    """The kind of its cells: ranges for ordered kinds, nodes or sets for categories."""
    if attribute.ordered:
        return "range"
    return "node" if attribute.height else "set"


def _range(width: str, mixed: str, size: str = "size") -> str:
    return f"case when {mixed} then ({width} * ({size} - 1) + 1) / {size} else {width} end"


def _set_loss(count: str) -> str:
    return f"case when {count} > 1 then {count} / cast(size as double) else 0 end"


def _whole_loss(count: str) -> str:
    return f"case when {count} > 1 then 1 else 0 end"


def _node(levels: Sequence[Level], low: str, high: str, low_code: str, high_code: str) -> str:
    whens = " ".join(
        f"when {low}{level.a} = {high}{level.a} then {high}{level.z}" for level in levels
    )
    return f"case when {low_code} = {high_code} then 0 {whens} else 1 end"


def _root_loss(levels: Sequence[Level]) -> dict[str, str]:
    return {
        "range": _range("coalesce(last_share - first_share, 0)", "first_code = 0"),
        "set": _set_loss("values_all"),
        "whole": _whole_loss("values_all"),
        "node": _node(levels, "first_", "last_", "first_code", "last_code"),
    }


def times_weight(attributes: Sequence[Attribute], amount: str, which: str = "attribute") -> str:
    """An amount of loss, multiplied by the weight of its attribute if weights differ."""
    groups: dict[Fraction, list[int]] = {}
    for a in attributes:
        if a.weight is not None:
            groups.setdefault(a.weight, []).append(a.index)
    if not groups:
        return amount
    # at most 1, so that weights cannot cause an overflow
    whens = " ".join(
        f"when {which} in ({join([lit(i) for i in members])})"
        f" then {lit(float(weight / max(groups)))}"
        for weight, members in groups.items()
    )
    return f"({amount}) * case {whens} end"


def cell_loss_sql(attributes: Sequence[Attribute], levels: Sequence[Level], cell: str = "e") -> Sql:
    """The loss of a cell, a row of `cell`, between its places `l` and `h` in the domain.

    `different`: for a set, its number of values; for a range, 1 if it includes NULL.
    """
    losses = {
        "range": _range("coalesce(h.share - l.share, 0)", "different > 0", "l.size"),
        "set": "different / cast(l.size as double)",
        "whole": _whole_loss("different"),
        "node": _node(levels, "l.", "h.", "low", "high"),
    }
    attribute = f"{cell}.attribute"
    lost = by_kind(attributes, losses.__getitem__, attribute)
    return Sql(times_weight(attributes, lost, attribute))


def merit_sql(attributes: Sequence[Attribute]) -> Sql:
    """The merit by which cuts are ranked: gain over the square root of the smaller half's rows.

    So in a range, a thin slice with a large gain precedes the middle: fewer rows remain in classes
    that are too small to be cut again. For categories, the rows of the whole class are used.
    """
    weights = dict.fromkeys(("set", "whole", "node"), "n_all")
    weights["range"] = "least(kept_left, n_all - kept_left)"
    weight = by_kind(attributes, weights.__getitem__)
    return Sql(f"cast({times_weight(attributes, 'gain')} / sqrt({weight}) as decimal(18, 8))")


def plain_merit_sql(attributes: Sequence[Attribute]) -> Sql:
    """The gain alone, as the merit of a cut."""
    return Sql(f"cast({times_weight(attributes, 'gain')} as decimal(18, 8))")


def single_gain_sql(attributes: Sequence[Attribute], levels: Sequence[Level]) -> Sql:
    """The gain of separating one value of a category (not the first or last) from the rest.

    The value is published exactly. The rest becomes a smaller set; its node stays the same.
    """
    whole = _root_loss(levels)
    left = "(values_all - 1)"
    rest = {**whole, "set": _set_loss(left), "whole": _whole_loss(left)}
    return Sql(
        f"n_all * {by_kind(attributes, whole.__getitem__)}"
        f" - (n_all - n) * {by_kind(attributes, rest.__getitem__)}"
    )


def gain_sql(attributes: Sequence[Attribute], levels: Sequence[Level]) -> Sql:
    """The gain of a cut below `code` of one attribute, in whole cells of that attribute."""
    whole = _root_loss(levels)
    left = {
        "range": _range("coalesce(share - first_share, 0)", "first_code = 0 and code > 0"),
        "set": _set_loss("values_left"),
        "whole": _whole_loss("values_left"),
        "node": _node(levels, "first_", "", "first_code", "code"),
    }
    right = {
        "range": "coalesce(last_share - next_share, 0)",
        "set": _set_loss("(values_all - values_left)"),
        "whole": _whole_loss("(values_all - values_left)"),
        "node": _node(levels, "next_", "last_", "next_code", "last_code"),
    }
    return Sql(
        f"n_all * {by_kind(attributes, whole.__getitem__)}"
        f" - n_left * {by_kind(attributes, left.__getitem__)}"
        f" - (n_all - n_left) * {by_kind(attributes, right.__getitem__)}"
    )
