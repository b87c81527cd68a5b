"""Quasi-identifiers of types that do not suit their values: texts of numbers or dates, for which
ranges would lose less than sets, and numbers that are alike as doubles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from typing import Any

from anonymizer.compile import lit
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.source.profile import read_as_text
from anonymizer.source.roles import Roles
from anonymizer.steps import Note, Step

WRITTEN_AS = "written_as."
ALIKE = "alike_as_doubles."
EXACT = re.compile(r"U?(BIGINT|HUGEINT)|DECIMAL(\((1[6-9]|[23]\d),\d+\))?")
"""Types of exact numbers of more digits than a double has."""
FEW = 10
"""Number of values up to which sets are as good as ranges."""
NUMBERS = r"^ *[-+]?([0-9]+|[0-9]{1,3}([.,][0-9]{3})+)([.,][0-9]+)? *$"
DATES = (
    r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2}))"
    r"([ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?)?$"
)
WORDS = {1: "numbers", 2: "dates"}


def written_as_notes(policy: Policy, roles: Roles) -> tuple[Note, ...]:
    """The statement that looks at texts without a hierarchy, and at numbers of many digits."""
    if policy.algorithm.classless:
        return ()
    texts = [a for a in roles.quasi if read_as_text(a.sql_type) and a.spec is None]
    exact = [a for a in roles.quasi if a.kind == "numeric" and EXACT.fullmatch(a.sql_type)]
    if not texts and not exact:
        return ()
    names = [WRITTEN_AS + a.column for a in texts] + [ALIKE + a.column for a in exact]
    numbered = [(a.values, lit(number)) for number, a in enumerate((*texts, *exact), 1)]
    context = {
        "values": [table for table, _ in numbered],
        "texts": numbered[: len(texts)],
        "exact": numbered[len(texts) :],
        "names": names,
        "few": FEW,
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
