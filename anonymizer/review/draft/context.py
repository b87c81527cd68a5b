"""Guessing the roles of all columns of a table, in the context of the other columns."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from anonymizer.compile import ident
from anonymizer.policy.words import words
from anonymizer.review.draft.guess import Guess, guess
from anonymizer.review.draft.profiles import A_HANDFUL, Profile, profiles
from anonymizer.source import column_names

if TYPE_CHECKING:
    from anonymizer.review.assess.opening import Opened

SERIES = 3
"""From this many columns with a common name, they are one repeated measurement."""
FINDINGS = 1 / 3
"""From this share of sensitive columns, a table is about findings or answers."""
SURE_FINDINGS = 1 / 2
"""The same share among the columns whose names or contents determine their role."""
MOST_PAIRS = 100
"""Largest number of column pairs that are compared."""
NUMBERED = re.compile(
    r"(?P<stem>.*?[^\W\d_]|)[\W_]*(\d+[a-z]{0,2}|pre|post|baseline|before|after)\Z", re.IGNORECASE
)


def guess_columns(opened: Opened, known: Collection[str] = ()) -> dict[str, str]:
    """Guess a role per column, without the columns in `known`."""
    found = tuple(p for p in profiles(opened, identifiers=True) if p.column not in known)
    return {name: one.role for name, one in guesses(opened, found).items()}


def guesses(opened: Opened, found: tuple[Profile, ...]) -> dict[str, Guess]:
    """One guess per column: from itself, from columns with similar names, and from the table."""
    by_name = {p.column: p for p in found}
    made = {p.column: guess(p) for p in found}
    for name, stem in _series(by_name, made):
        said = f"one of several columns named {stem}: a measurement or an answer, repeated"
        made[name] = Guess("sensitive", said)
    made |= _among_findings(by_name, made)
    made |= _said_again(opened, by_name, made)
    return made


def _series(by_name: dict[str, Profile], made: dict[str, Guess]) -> Iterator[tuple[str, str]]:
    """Columns that repeat one measurement, each with the part that their names share."""
    open_ones = [
        p for name, p in by_name.items() if not made[name].sure and made[name].role != "identifier"
    ]
    groups: dict[tuple[str, str, bool], list[Profile]] = defaultdict(list)
    for p in open_ones:
        if match := NUMBERED.match(p.column):
            groups["stem", match["stem"].lower() or "by number", p.number].append(p)
        said = words(p.column)
        if len(said) > 1 and p.number:
            groups["ends", said[-1], p.number].append(p)
            groups["begins", said[0], p.number].append(p)
    told: set[str] = set()
    for (_, stem, _number), members in groups.items():
        if len(members) < SERIES or not _alike(members):
            continue
        for p in members:
            if p.column not in told:
                told.add(p.column)
                yield p.column, stem


def _alike(members: list[Profile]) -> bool:
    """Whether columns share a scale: measures, or codes with about the same number of values."""
    if all(p.measure for p in members):
        return True
    counts = [p.different or 0 for p in members]
    return max(counts) <= A_HANDFUL * 5 and max(counts) <= 2 * min(counts) + 1


def _among_findings(by_name: dict[str, Profile], made: dict[str, Guess]) -> dict[str, Guess]:
    """In a table of findings or answers, treat columns without other evidence as sensitive."""
    sensitive = [one for one in made.values() if one.role == "sensitive"]
    known = [one for one in made.values() if one.sure and one.role in ("quasi", "sensitive")]
    told = sum(one.sure for one in sensitive)
    if len(sensitive) < SERIES or (
        len(sensitive) < FINDINGS * len(made) and told < SURE_FINDINGS * len(known)
    ):
        return {}
    said = "stands among findings or answers, and its name does not say that others may know it"
    changed = {
        name: replace(one, role="sensitive", reason=said)
        for name, one in made.items()
        if not one.sure and one.role == "quasi"
    }
    for name, p in by_name.items():
        graded = column_names.says(name, column_names.GRADED) and p.number
        if graded and made[name].role == "quasi" and (p.different or 0) <= A_HANDFUL:
            changed[name] = Guess("sensitive", "a grade among findings")
    return changed


def _said_again(
    opened: Opened, by_name: dict[str, Profile], made: dict[str, Guess]
) -> dict[str, Guess]:
    """Columns that duplicate another: a different code for it, or a flag for one of its values."""
    usable = [p for p in by_name.values() if made[p.column].role in ("quasi", "sensitive")]
    names = {p.column for p in usable}
    pairs: list[tuple[str, str, bool]] = []
    for p in usable:
        match = NUMBERED.match(p.column)
        if match and match["stem"] in names and p.different == 2:
            pairs.append((match["stem"], p.column, True))
    for one, other in combinations(usable, 2):
        counts = one.different == other.different and one.known == other.known
        if counts and (one.different or 0) > 2 and max(one.spread, other.spread) < 0.5:
            first, second = (other, one) if one.number and other.text else (one, other)
            pairs.append((first.column, second.column, False))
    pairs = pairs[:MOST_PAIRS]
    if not pairs:
        return {}
    named = [{"first": ident(one), "second": ident(other)} for one, other, _ in pairs]
    counted = opened.select("drafting/pairs", "pairs", pairs=named)
    again: dict[str, Guess] = {}
    for (name, copy, flag), (_, together) in zip(pairs, counted, strict=True):
        first = by_name[name]
        alone = (first.different or 0) + (first.known < first.rows)
        if alone == together and name not in again:
            said = "is a flag for one value of" if flag else "says the same as"
            again[copy] = Guess("drop", f"{said} {name}, value for value")
    return again
