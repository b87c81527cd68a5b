"""Replaces identifiers in free text by their kind: `[mail]`, `[phone]`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from anonymizer.compile import Sql, lit, sql
from anonymizer.source.detectors import FORMS
from anonymizer.source.forms import Form
from anonymizer.source.signs import plain

LAST = {"phone": 1, "card": 2}
"""Kinds that are searched for after the others."""
PASSES = 2
"""Matches include neighbouring characters: two that share one are found in different passes."""


def forms_of(kinds: Sequence[str]) -> tuple[Form, ...]:
    """The forms that are replaced: all forms of the kinds that may be part of a text.

    Telephone numbers and cards come last: part of another number may look like a telephone number,
    and cards without check digits are only long numbers.
    """
    found = (f for f in FORMS if f.inside and (not kinds or f.kind in kinds))
    return tuple(sorted(found, key=lambda form: LAST.get(form.kind, 0)))


def redacted(value: Sql, kinds: Sequence[str]) -> Sql:
    """The text with every identifier replaced by its kind in brackets."""
    made = usual = Sql(f"({plain(value.text)})")
    for _ in range(PASSES):
        for form in forms_of(kinds):
            made = sql(
                "regexp_replace({v}, {p}, {r}, 'g')",
                v=made,
                p=lit(flat(form.pattern)),
                r=lit(replacement(form)),
            )
    found = lit("|".join(f"({form.pattern})" for form in forms_of(kinds)))
    return sql(
        "case when regexp_matches({t}, {p}) then {m} else {v} end",
        t=usual,
        v=value,
        p=found,
        m=made,
    )


def replacement(form: Form) -> str:
    """The replacement for a match, which keeps the characters before and after it."""
    after = "\\3" if re.compile(flat(form.pattern)).groups > 2 else ""
    return f"\\1[{form.kind}]{after}"


def flat(pattern: str) -> str:
    """The pattern whose nested groups are not numbered: only nine groups can be referred to."""
    depth, made = 0, ""
    blank = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]", lambda found: "." * len(found[0]), pattern)
    for sign, known in zip(pattern, blank, strict=True):
        nested = known == "(" and depth > 0
        depth += (known == "(") - (known == ")")
        made += sign + "?:" * nested
    return made.replace("(?:?", "(?")
