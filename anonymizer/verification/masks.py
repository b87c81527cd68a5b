"""Conditions on masked columns: from the release alone, and against the values as they were.

They are about what was published, not about how it was made: no statement of the masks is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from anonymizer.compile import Sql, Table, ident, lit
from anonymizer.contract.columns import type_sql
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.contract.originals import MaskedColumn, Originals
from anonymizer.contract.value_text import value_text
from anonymizer.policy.safe_harbor import RESTRICTED
from anonymizer.source.detectors import ALONE, FORMS
from anonymizer.source.masking.masks import bounds, exact_type, family_of, in_utc, precision
from anonymizer.source.signs import IDEOGRAPHS, LETTERS, folded, plain
from anonymizer.verification.questions import Achieved, Question

TOKENS = {
    "hex": "[0-9a-f]{64}",
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}",
    "number": "[0-9]{1,18}",
}
"""Forms of tokens; those like their value have its form, which a release does not show."""
CALENDAR = ("year", "quarter", "month", "week", "day", "hour")
REALS = ("FLOAT", "DOUBLE")
BLUR = {"FLOAT": "2.4e-7", "DOUBLE": "9e-16"}
"""What share of a number may be lost where it is rounded to its type."""
WORST = Achieved("n", "sum")
MOST_WORDS = 20
"""Words of the longest value that no text may show."""
DAY = 86_400_000_000
"""Microseconds."""


def released(view: Table, layout: Layout) -> Iterator[Question]:
    """What the published rows show of every column that is published value by value."""
    for column in layout.columns:
        if column.role not in ("keep", "sensitive") or column.column in layout.tables:
            continue
        shared = {
            "data": view,
            "column": column,
            "type": type_sql(column.sql_type),
            "label": "what",
            "person": layout.person_id,
        }
        for mask in column.masks:
            yield from _released(column, mask, shared)


def _released(
    column: PublishedColumn, mask: Mapping[str, Any], shared: Mapping[str, Any]
) -> Iterator[Question]:
    def asked(name: str, template: str, **parameters: Any) -> Question:
        return Question(name, column.column, 0, template, {**shared, **parameters}, (WORST,))

    match mask["mask"]:
        case "token" if mask.get("format") in TOKENS:
            yield asked("mask_form", "mask_form", form=TOKENS[mask["format"]])
        case "top_code" | "bottom_code" as kind:
            top = kind == "top_code"
            if "at" in mask:
                at = _value(mask["at"], column.sql_type)
                yield asked("mask_beyond", "mask_beyond", at=at, top=top)
            if "at_least" in mask:
                least = int(mask["at_least"])
                parameters = {**shared, "at_least": least, "top": top}
                smallest = Achieved("units", "least")
                yield Question(
                    "mask_group", column.column, least, "mask_group", parameters, (smallest,)
                )
        case "round":
            dates = mask["to"] in CALENDAR
            step = Sql("0") if dates else _value(mask["to"], _wide(column.sql_type))
            yield asked(
                "mask_rounded",
                "mask_rounded",
                step=step,
                unit=mask["to"],
                dates=dates,
                zoned=column.sql_type.endswith("TIME ZONE"),
                reals=column.sql_type in REALS,
                limit=Sql("0") if dates else _value(_limit(mask["to"]), "DOUBLE"),
            )
        case "noise" if "between" in mask:
            low, high = (_value(end, column.sql_type) for end in mask["between"])
            yield asked("mask_between", "mask_between", low=low, high=high)
        case "redact":
            name = ident(column.name or column.column)
            shown = Sql(plain(f"cast({name} as varchar)"))
            yield asked("mask_patterns", "mask_patterns", pattern=_patterns(mask), shown=shown)
        case "zip3":
            yield asked("mask_zip3", "mask_zip3", restricted=restricted(mask))
        case "null":
            yield asked("mask_constant", "mask_constant", value=Sql("null"))
        case "constant":
            value = _value(mask["value"], column.sql_type)
            yield asked("mask_constant", "mask_constant", value=value)


def against_originals(originals: Originals) -> Iterator[Question]:
    """What the masked values have to do with the values as they were."""
    for column in originals.masked:
        shared = {
            "original": originals.read or originals.table,
            "column": column,
            "label": "what",
            "type": type_sql(column.sql_type),
        }
        for mask in column.masks:
            yield from _against(originals, column, mask, shared)


def _against(
    originals: Originals,
    column: MaskedColumn,
    mask: Mapping[str, Any],
    shared: Mapping[str, Any],
) -> Iterator[Question]:
    def asked(name: str, template: str, **parameters: Any) -> Question:
        return Question(name, column.column, 0, template, {**shared, **parameters}, (WORST,))

    match mask["mask"]:
        case "token":
            alike = [m for m in originals.masked if _has(m, "token") and _comparable(m, column)]
            together = [(_text(m), m.masked) for m in alike]
            yield asked("source_mask_one_to_one", "source_mask_one_to_one", together=together)
            yield asked("source_mask_foreign", "source_mask_foreign")
            if mask.get("format") == "like":
                yield asked("source_mask_like", "source_mask_like", text=_text(column))
        case "shift":
            shifted = [m for m in originals.masked if m.apart == column.apart and _has(m, "shift")]
            yield asked(
                "source_mask_shift",
                "source_mask_shift",
                columns=shifted,
                furthest=lit(int(mask["within"]) * DAY),
                span=lit(DAY * (7 if "weekday" in mask.get("keep", ()) else 1)),
            )
        case "top_code" | "bottom_code" as kind:
            top = kind == "top_code"
            at = _value(mask["at"], column.sql_type) if "at" in mask else None
            others = [m for m in column.masks if m["mask"] != kind]
            yield asked("source_mask_coded", "source_mask_coded", at=at, top=top, others=others)
        case "round":
            dates = mask["to"] in CALENDAR
            unit = {"quarter": (3, "month")}.get(mask["to"], (1, mask["to"]))
            more: dict[str, Any] = {"interval": Sql(f"interval '{unit[0]} {unit[1]}'")}
            if not dates:
                more = _distances(column.sql_type, mask["to"])
            yield asked(
                "source_mask_rounded",
                "source_mask_rounded",
                zoned=family_of(column.sql_type) == "zoned",
                dates=dates,
                reals=column.sql_type in REALS,
                method=mask.get("method", "nearest"),
                **more,
                codes=[
                    (other["mask"] == "top_code", _value(other["at"], column.sql_type))
                    for other in column.masks
                    if other["mask"] in ("top_code", "bottom_code") and "at" in other
                ],
            )
        case "noise":
            if "amount" in mask:
                reach = _value(mask["amount"], "DOUBLE")
            else:
                share = _value(mask["share"], "DOUBLE")
                reach = Sql(f"({share} * abs(cast({column.original} as double)))")
            yield asked(
                "source_mask_near",
                "source_mask_near",
                reach=reach,
                distance=_distance(column, mask),
                slack=_slack(column),
                between="between" in mask,
            )
        case "redact":
            pattern = _patterns(mask)
            identifiers = [
                (table or originals.read or originals.table, _words(written))
                for table, name in column.identifiers
                for written in _both_orders(f"cast({name} as varchar)")
            ]
            words: dict[str, Any] = {
                "identifiers": identifiers,
                "named": [*dict.fromkeys(table for table, _ in identifiers)],
                "most": MOST_WORDS,
                "shown": _words(column.masked.text),
                "ideographs": f"[{IDEOGRAPHS}].*[{IDEOGRAPHS}]",
            }
            yield asked("source_mask_identifiers", "source_mask_identifiers", **words)
            words |= {"plain": Sql(plain("original")), "shown": _words("original")}
            yield asked("source_mask_untouched", "source_mask_untouched", pattern=pattern, **words)
        case "zip3":
            few, numbers = restricted(mask), column.sql_type != "VARCHAR"
            yield asked("source_mask_zip3", "source_mask_zip3", restricted=few, whole=numbers)
        case _:
            return


def restricted(mask: Mapping[str, Any]) -> list[str]:
    """The areas of three digits that are not shown; without a list, those of the guidance."""
    return [str(area) for area in mask.get("restricted", RESTRICTED)]


def _distances(sql_type: str, to: float) -> dict[str, Any]:
    """The step in a type in which distances are exact, or what of it doubles do not show."""
    if sql_type in REALS:
        return {"wide": Sql("double"), "step": _value(to, "DOUBLE"), "blur": Sql(BLUR[sql_type])}
    wide = exact_type(sql_type)
    least, most = (_value(str(end), wide) for end in bounds(sql_type))
    return {"wide": Sql(wide), "step": _value(to, wide), "least": least, "most": most}


def _distance(column: MaskedColumn, mask: Mapping[str, Any]) -> Sql:
    """How far a number was moved, as a double; what is beyond the bounds is first put there."""
    whole = family_of(column.sql_type) == "whole" and "HUGEINT" not in column.sql_type
    wide = "hugeint" if whole else "double"
    own = f"cast({column.original} as {wide})"
    if "between" in mask:
        low, high = (f"cast({_value(end, column.sql_type)} as {wide})" for end in mask["between"])
        own = f"least(greatest({own}, {low}), {high})"
    return Sql(f"cast(abs(cast({column.masked} as {wide}) - {own}) as double)")


def _slack(column: MaskedColumn) -> Sql:
    """By how much more a number may be moved: to the next value of its type."""
    blur = f"abs(cast({column.original} as double)) * {BLUR.get(column.sql_type, BLUR['DOUBLE'])}"
    match family_of(column.sql_type):
        case "whole":
            return Sql("1") if "HUGEINT" not in column.sql_type else Sql(f"({blur} + 1)")
        case "decimal":
            return Sql(f"({blur} + {Decimal(1).scaleb(-precision(column.sql_type)[1]):f})")
    return Sql(f"({blur})")


def _limit(to: float) -> float:
    """From here on, multiples of a step are as near to each other as doubles are."""
    return min(float(to) * 2**50, sys.float_info.max)


def _words(text: str) -> Sql:
    """The words of a text, letters without case; each ideograph is one."""
    pattern = lit(f"[{IDEOGRAPHS}]|[{LETTERS}]+")
    small = folded(f"nfc_normalize({plain(text)})")
    return Sql(f"regexp_extract_all({small}, {pattern})")


def _both_orders(name: str) -> tuple[str, str]:
    """A name as it is in a table, and with its last name at the other end; NULL for one word."""
    last = rf"regexp_replace({name}, '^[^0-9]* ([^ ]+) *$', '\1')"
    rest = f"regexp_replace({name}, ' +[^ ]+ *$', '')"
    return name, (
        f"case when regexp_matches({name}, '[0-9]') then null"
        f" when strpos({name}, ',') > 0"
        f" then concat(split_part({name}, ',', 2), ' ', split_part({name}, ',', 1))"
        f" when strpos({name}, ' ') > 0 then concat({last}, ' ', {rest}) end"
    )


def _has(column: MaskedColumn, kind: str) -> bool:
    return any(mask["mask"] == kind for mask in column.masks)


def _comparable(one: MaskedColumn, other: MaskedColumn) -> bool:
    """Whether equal values have equal texts on every engine, and tokens are of one key."""
    plain = all(family_of(m.sql_type) in ("whole", "text") for m in (one, other))
    return one.apart == other.apart and (plain or one.sql_type == other.sql_type)


def _text(column: MaskedColumn) -> Sql:
    """The text of a value that has a token: equal values have one, in columns of any type."""
    value = column.original
    match family_of(column.sql_type):
        case "double":  # (the sum is 0.0 for -0.0 as well)
            return Sql(f"cast(cast({value} as double) + cast(0 as double) as varchar)")
        case "zoned":
            return Sql(f"(cast(timezone('UTC', {value}) as varchar) || '+00')")
        case "decimal" if len(set(precision(column.sql_type))) == 1:
            return Sql(f"regexp_replace(cast({value} as varchar), '^(-?)[.]', '\\10.')")
    return Sql(f"cast({value} as varchar)")


def _patterns(mask: Mapping[str, Any]) -> str:
    """One pattern that each of the identifiers has."""
    kinds = mask.get("patterns") or ()
    forms = [f.pattern for f in FORMS if f.least < ALONE and (not kinds or f.kind in kinds)]
    return "|".join(f"({form})" for form in forms)


def _wide(sql_type: str) -> str:
    """A type in which remainders of the type's values are exact."""
    return "DOUBLE" if sql_type == "FLOAT" else sql_type


def _value(value: Any, sql_type: str) -> Sql:
    """A value of the manifest as one of a column's type."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Sql(f"cast({lit(f'{Decimal(str(value)):f}')} as {type_sql(sql_type)})")
    text = value_text(value)
    if family_of(sql_type) == "zoned":
        text = in_utc(text)
    return Sql(f"cast({lit(text)} as {type_sql(sql_type)})")
