"""Warnings about values of quasi-identifiers: texts that are numbers, dates or names, and numbers
that are alike as doubles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from typing import Any

from anonymizer.compile import lit
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.source.column_names import familiar
from anonymizer.source.person_names import names_people
from anonymizer.source.persons import A_FEW, CATEGORY, UNFAMILIAR
from anonymizer.source.profile import read_as_text
from anonymizer.source.roles import Roles
from anonymizer.steps import Note, Step

WRITTEN_AS = "written_as."
ROSTER = "roster."
ALIKE = "alike_as_doubles."
EXACT = re.compile(r"U?(BIGINT|HUGEINT)|DECIMAL(\((1[6-9]|[23]\d),\d+\))?")
"""Types of exact numbers of more digits than a double has."""
NUMBERS = r"^ *[-+]?([0-9]+|[0-9]{1,3}([.,][0-9]{3})+)([.,][0-9]+)? *$"
DATES = (
    r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2}))"
    r"([ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?)?$"
)
CODES = "^([A-Z0-9./-]*[0-9][A-Z0-9./-]*|[A-Za-z]{1,3})$"
WORDS = {1: "numbers", 2: "dates"}


def written_as_notes(policy: Policy, roles: Roles, *, events: bool = False) -> tuple[Note, ...]:
    """The statement that looks at texts without a hierarchy, and at numbers of many digits.

    `events`: the columns are events, whose cells are no sets: only names are looked for.
    """
    if policy.algorithm.classless:
        return ()
    texts = [a for a in roles.quasi if read_as_text(a.sql_type) and a.spec is None]
    rosters = [a for a in texts if "name" not in policy.columns[a.column].acknowledge]
    people = [a for a in rosters if names_people(a.column)]
    rosters = people + [a for a in rosters if not familiar(a.column)]
    exact = [a for a in roles.quasi if a.kind == "numeric" and EXACT.fullmatch(a.sql_type)]
    if events:
        texts, exact = [], []
    looked = [(WRITTEN_AS, a) for a in texts] + [(ALIKE, a) for a in exact]
    looked += [(ROSTER, a) for a in dict.fromkeys(rosters)]
    if not looked:
        return ()
    numbered = [(a.values, lit(number)) for number, (_, a) in enumerate(looked, 1)]
    rest = len(texts) + len(exact)
    context = {
        "values": [table for table, _ in numbered],
        "texts": numbered[: len(texts)],
        "exact": numbered[len(texts) : rest],
        "rosters": [
            (table, number, a in people)
            for (table, number), (_, a) in zip(numbered[rest:], looked[rest:], strict=True)
        ],
        "names": [prefix + a.column for prefix, a in looked],
        "few": A_FEW,
        "category": CATEGORY,
        "unfamiliar": round(1 / UNFAMILIAR),
        "codes": CODES,
        "numbers": NUMBERS,
        "dates": DATES,
    }
    return (Note(Step("what values look like", "prepare/written_as.sql.j2", context)),)


def written_as_remarks(notes: MutableMapping[str, Any]) -> Iterator[str]:
    """The warnings; removes their figures from `notes`."""
    for name in [name for name in notes if name.startswith(WRITTEN_AS)]:
        found = int(notes.pop(name))
        if found:
            yield (
                f"{column_path(name.removeprefix(WRITTEN_AS))}: is text, and all its values are"
                f" {WORDS[found]}: its cells are sets of values; cast it in source.query, to get"
                " ranges, which lose less, or give codes such as postcodes"
                " hierarchy: {builder: prefix}"
            )
    for name in [name for name in notes if name.startswith(ALIKE)]:
        if int(notes.pop(name)):
            yield (
                f"{column_path(name.removeprefix(ALIKE))}: has values that are alike in their first"
                " 16 digits, to which losses are computed: those of this column are told too low,"
                " and its classes may be wider than need be; subtract a constant in source.query,"
                " or round"
            )
    for name in [name for name in notes if name.startswith(ROSTER)]:
        found = int(notes.pop(name))
        if found:
            yield (
                f"{column_path(name.removeprefix(ROSTER))}: is text with {found:,} different values"
                " and by its name it holds names of persons, or at least no places, dates or jobs:"
                " its cells are values as they are, so that a class may be a list of its members;"
                " role: identifier or drop, or, if the values name nobody, acknowledge: [name]"
            )
