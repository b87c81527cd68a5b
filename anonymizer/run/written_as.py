"""Quasi-identifiers of text that hold numbers or dates: ranges would lose less than sets."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from anonymizer.compile import ident
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.source.profile import read_as_text
from anonymizer.source.roles import Roles
from anonymizer.steps import Note, Step

WRITTEN_AS = "written_as."
FEW = 10
"""Number of values up to which sets are as good as ranges."""
NUMBERS = r"^ *[-+]?([0-9]+|[0-9]{1,3}([.,][0-9]{3})+)([.,][0-9]+)? *$"
DATES = (
    r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2}))"
    r"([ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?)?$"
)
WORDS = {1: "numbers", 2: "dates"}


def written_as_notes(policy: Policy, roles: Roles) -> tuple[Note, ...]:
    """The statement that looks at the values of text columns without a hierarchy."""
    if policy.algorithm.classless:
        return ()
    texts = [a for a in roles.quasi if read_as_text(a.sql_type) and a.spec is None]
    if not texts:
        return ()
    context = {
        "values": [a.values for a in texts],
        "columns": [(a.values, ident(WRITTEN_AS + a.column)) for a in texts],
        "few": FEW,
        "numbers": NUMBERS,
        "dates": DATES,
    }
    return (Note(Step("what texts look like", "prepare/written_as.sql.j2", context)),)


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
