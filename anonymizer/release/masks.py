"""What masks do not prevent, in words: a masked value is not an anonymous one."""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.policy import Policy
from anonymizer.policy.columns import Column
from anonymizer.policy.masking import CALENDAR, OPTIONS, Code, Rounding
from anonymizer.policy.safe_harbor import NO_AREA

REMAINS = {
    "token": "frequency: {name} has equal tokens for equal values, so that a value that is known"
    " to be common or rare may be recognized by how often its token occurs",
    "shift": "intervals: {name} keeps the days between the dates of a person, so that who knows"
    " two of them may recognize the person",
    "noise": "averages: {name} has noise drawn anew for every row, which averages out over many"
    " rows of the same person",
    "redact": "free text: {name} holds no identifier of a known form; names, places and what"
    " happened may still tell whose text it is",
}
"""Remaining attacks by role."""
LASTING = (
    "joining: {name} has the same tokens in every release under its key: whoever has two of them"
    " joins them person by person"
)


def mask_attacks(policy: Policy, at: str = "") -> Iterator[str]:
    """The attacks that masked columns leave open; `at`: a prefix of their names."""
    for name in policy.masked:
        column = policy.columns[name]
        if column.role in REMAINS:
            yield REMAINS[column.role].format(name=at + name)
        if column.role == "token" and column.key_file is not None:
            yield LASTING.format(name=at + name)


def mask_words(policy: Policy, name: str) -> str:
    """How a column is masked, in words; empty for an unmasked column."""
    column = policy.columns[name]
    unit = "persons" if policy.person is not None else "rows"
    return "; ".join(_words(kind, options, unit) for kind, options in column.masks)


def _words(kind: str, options: Column | Code | Rounding, unit: str) -> str:
    given = {option: getattr(options, option, None) for option in OPTIONS[kind]}
    match kind:
        case "token":
            held = "a key that lasts" if given["key_file"] else "a key that the run forgets"
            back = ", remembered in a vault" if given["vault"] else ""
            return f"a token ({given['format'] or 'hex'}) under {held}{back}"
        case "shift":
            by = "by whole weeks, " if "weekday" in (given["keep"] or ()) else ""
            return f"moved {by}by at most {given['within']} days, the dates of a person alike"
        case "top_code" | "bottom_code":
            side = "above" if kind == "top_code" else "below"
            if given["at"] is not None:
                return f"cut off {side} {given['at']}"
            return f"cut off {side} the value that at least {given['at_least']} {unit} reach"
        case "round":
            how = "cut off to the" if given["to"] in CALENDAR else "rounded to multiples of"
            way = f" ({given['method']})" if given["method"] not in (None, "nearest") else ""
            return f"{how} {given['to']}{way}"
        case "noise":
            most = given["amount"] or f"{100 * (given['share'] or 0):g} % of the value"
            return f"with noise of at most {most}"
        case "redact":
            kinds = ", ".join(given["patterns"] or ()) or "all known forms"
            return f"identifiers in its text replaced ({kinds}, and values of identifying columns)"
        case "zip3":
            return f"the first three digits of a ZIP code, {NO_AREA} where few live"
        case "constant":
            return "one value for all"
    return "no value"
