"""Verification against the source: conditions that a release alone cannot show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from anonymizer.compile import Sql, Table, ident, lit, render
from anonymizer.contract.checks import RunSql, Verification, verification
from anonymizer.contract.layout import (
    Layout,
    MaskedColumn,
    Originals,
    PublishedColumn,
    Requirement,
    cell_parts,
    column_names,
    quasi,
)
from anonymizer.source.identifiers import IDEOGRAPHS, LETTERS, fold_case, usual_characters
from anonymizer.source.masking.masks import bounds, exact_type, family_of, precision
from anonymizer.verification.form import (
    CALENDAR,
    REALS,
    Mask,
    patterns,
    restricted_areas,
    value_of,
)
from anonymizer.verification.guarantees import source_questions
from anonymizer.verification.public_grid import above, below
from anonymizer.verification.questions import Asking, Question, ask_all, condition, of_column

# Conditions that compare masked columns with their original values.


Asked: TypeAlias = tuple[str, dict[str, Any]]
"""The name of a condition and of its template, and its specific parameters."""
BLUR = {"FLOAT": "2.4e-7", "DOUBLE": "9e-16"}
"""Relative error of a number that is rounded to its type."""
MOST_WORDS = 20
"""Words of the longest value that is searched for in texts."""
DAY = 86_400_000_000
"""A day in microseconds."""


def against_originals(originals: Originals) -> Iterator[Question]:
    """The conditions that compare masked values with their originals."""
    for column in originals.masked:
        shared = {
            "original": originals.read or originals.table,
            "column": column,
            "label": "what",
            "type": column.type,
        }
        for mask in column.masks:
            if mask["mask"] in AGAINST:
                for name, parameters in AGAINST[mask["mask"]](originals, column, mask):
                    yield condition(name, column.column, {**shared, **parameters}, "n")


def _tokens(originals: Originals, column: MaskedColumn, mask: Mask) -> Iterator[Asked]:
    alike = [m for m in originals.masked if _has(m, "token") and _comparable(m, column)]
    yield "source_mask_one_to_one", {"together": [(_text(m), m.masked) for m in alike]}
    yield "source_mask_foreign", {}
    if mask.get("format") == "like":
        yield "source_mask_like", {"text": _text(column)}


def _ask_shift(originals: Originals, column: MaskedColumn, mask: Mask) -> Iterator[Asked]:
    together = [m for m in originals.masked if m.apart == column.apart and _has(m, "shift")]
    step = DAY * (7 if "weekday" in mask.get("keep", ()) else 1)
    furthest = lit(int(mask["within"]) * DAY)
    yield "source_mask_shift", {"columns": together, "furthest": furthest, "span": lit(step)}


def _ask_codes(_: Originals, column: MaskedColumn, mask: Mask) -> Iterator[Asked]:
    kind = mask["mask"]
    yield (
        "source_mask_coded",
        {
            "at": value_of(mask["at"], column.sql_type) if "at" in mask else None,
            "top": kind == "top_code",
            "others": [m for m in column.masks if m["mask"] != kind],
        },
    )


def _ask_rounding(_: Originals, column: MaskedColumn, mask: Mask) -> Iterator[Asked]:
    dates = mask["to"] in CALENDAR
    if dates:
        number, unit = {"quarter": (3, "month")}.get(mask["to"], (1, mask["to"]))
        distances: dict[str, Any] = {"interval": Sql(f"interval '{number} {unit}'")}
    else:
        distances = _distances(column.sql_type, mask["to"])
    yield (
        "source_mask_rounded",
        {
            **distances,
            "dates": dates,
            "zoned": family_of(column.sql_type) == "zoned",
            "reals": column.sql_type in REALS,
            "method": mask.get("method", "nearest"),
            "codes": [
                (other["mask"] == "top_code", value_of(other["at"], column.sql_type))
                for other in column.masks
                if other["mask"] in ("top_code", "bottom_code") and "at" in other
            ],
        },
    )


def _noisy(_: Originals, column: MaskedColumn, mask: Mask) -> Iterator[Asked]:
    if "amount" in mask:
        reach = value_of(mask["amount"], "DOUBLE")
    else:
        share = value_of(mask["share"], "DOUBLE")
        reach = Sql(f"({share} * abs(cast({column.original} as double)))")
    yield (
        "source_mask_near",
        {
            "reach": reach,
            "distance": _distance(column, mask),
            "slack": _slack(column),
            "between": "between" in mask,
        },
    )


def _ask_redaction(originals: Originals, column: MaskedColumn, mask: Mask) -> Iterator[Asked]:
    read = originals.read or originals.table
    identifiers = [
        (table or read, _words(written))
        for table, name in column.identifiers
        for written in _both_orders(f"cast({name} as varchar)")
    ]
    words = {
        "identifiers": identifiers,
        "named": [*dict.fromkeys(table for table, _ in identifiers)],
        "most": MOST_WORDS,
        "ideographs": f"[{IDEOGRAPHS}].*[{IDEOGRAPHS}]",
    }
    yield "source_mask_identifiers", {**words, "shown": _words(column.masked.text)}
    before = {"plain": Sql(usual_characters("original")), "shown": _words("original")}
    yield "source_mask_untouched", {**words, **before, "pattern": patterns(mask)}


def _areas(_: Originals, column: MaskedColumn, mask: Mask) -> Iterator[Asked]:
    whole = column.sql_type != "VARCHAR"
    yield "source_mask_zip3", {"restricted": restricted_areas(mask), "whole": whole}


AGAINST: Mapping[str, Callable[[Originals, MaskedColumn, Mask], Iterator[Asked]]] = {
    "token": _tokens,
    "shift": _ask_shift,
    "top_code": _ask_codes,
    "bottom_code": _ask_codes,
    "round": _ask_rounding,
    "noise": _noisy,
    "redact": _ask_redaction,
    "zip3": _areas,
}
"""The conditions of each kind of mask; other kinds have none."""


def _distances(sql_type: str, to: float) -> dict[str, Any]:
    """The step in a type with exact distances, or the part of it that doubles cannot represent."""
    if sql_type in REALS:
        return {"wide": Sql("double"), "step": value_of(to, "DOUBLE"), "blur": Sql(BLUR[sql_type])}
    wide = exact_type(sql_type)
    least, most = (value_of(str(end), wide) for end in bounds(sql_type))
    return {"wide": Sql(wide), "step": value_of(to, wide), "least": least, "most": most}


def _distance(column: MaskedColumn, mask: Mask) -> Sql:
    """The distance of a number from its mask, as a double; values beyond bounds count as these."""
    whole = family_of(column.sql_type) == "whole" and "HUGEINT" not in column.sql_type
    wide = "hugeint" if whole else "double"
    own = f"cast({column.original} as {wide})"
    if "between" in mask:
        low, high = (f"cast({value_of(end, column.sql_type)} as {wide})" for end in mask["between"])
        own = f"least(greatest({own}, {low}), {high})"
    return Sql(f"cast(abs(cast({column.masked} as {wide}) - {own}) as double)")


def _slack(column: MaskedColumn) -> Sql:
    """The tolerance of a move: to the next value of the type."""
    blur = f"abs(cast({column.original} as double)) * {BLUR.get(column.sql_type, BLUR['DOUBLE'])}"
    match family_of(column.sql_type):
        case "whole":
            return Sql("1") if "HUGEINT" not in column.sql_type else Sql(f"({blur} + 1)")
        case "decimal":
            return Sql(f"({blur} + {Decimal(1).scaleb(-precision(column.sql_type)[1]):f})")
    return Sql(f"({blur})")


def _words(text: str) -> Sql:
    """The words of a text, ignoring case; each ideograph is a word."""
    pattern = lit(f"[{IDEOGRAPHS}]|[{LETTERS}]+")
    small = fold_case(f"nfc_normalize({usual_characters(text)})")
    return Sql(f"regexp_extract_all({small}, {pattern})")


def _both_orders(name: str) -> tuple[str, str]:
    """A name as in a table, and with its last name moved to the other end; NULL for one word."""
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
    """Return whether equal values have equal texts on every engine, and tokens share a key."""
    plain = all(family_of(m.sql_type) in ("whole", "text") for m in (one, other))
    return one.apart == other.apart and (plain or one.sql_type == other.sql_type)


def _text(column: MaskedColumn) -> Sql:
    """The text of a value with a token: equal values have equal texts, in columns of any type."""
    value = column.original
    match family_of(column.sql_type):
        case "double":  # (the sum turns -0.0 into 0.0)
            return Sql(f"cast(cast({value} as double) + cast(0 as double) as varchar)")
        case "zoned":
            return Sql(f"(cast(timezone('UTC', {value}) as varchar) || '+00')")
        case "decimal" if len(set(precision(column.sql_type))) == 1:
            return Sql(f"regexp_replace(cast({value} as varchar), '^(-?)[.]', '\\10.')")
    return Sql(f"cast({value} as varchar)")


# Verification against the source: conditions that cannot be checked from a release alone.
#
# The staged rows (`link`) are the release, each row with a reference to its source row; they and
# the originals exist in scratch only. The staged rows are checked to equal the published ones as
# multisets, so that the results apply to the release.


ROWS = "anonymizer:rows"
"""Column of the compared cells with the number of their rows."""
AS_THEY_WERE = ("sensitive", "keep")
"""Roles of columns that are published unchanged, except in buckets and separate tables."""


def verify_against_source(
    run_sql: RunSql,
    originals: Originals,
    link: Table,
    view: Table,
    layout: Layout,
    *,
    compared: Table,
    requirements: Sequence[Requirement] = (),
    suppressed: int | Sql = 0,
    promoted: bool = False,
    ask: Asking = ask_all,
) -> Verification:
    """Check every condition that compares the release with its source.

    Of the requirements, those that the release does not show are judged here.
    `suppressed` is the number of suppressed rows, or an expression for it. `promoted`: cells that
    are not sensitive may be in buckets (rows of small flag patterns). `compared` is a work table
    that may be created: cells with the originals of their rows. `ask` answers the questions.
    """
    tables: dict[str, Any] = {
        "link": link,
        "original": originals.table,
        "row_ref": originals.row_ref,
        "group": layout.class_id,
        "label": layout.class_id or "class",
    }
    asked = (
        *_questions(originals, tables, view, layout, suppressed, promoted, compared),
        *source_questions(requirements, originals.units, tables),
    )
    return verification(ask(asked, run_sql))


def side_by_side(
    originals: Originals, tables: dict[str, Any], layout: Layout, compared: Table
) -> str:
    """The statement that joins generalized cells with the original values of their rows."""
    columns = [
        {
            "bucket": column.bucket,
            "parts": cell_parts(column),
            "physical": originals.values[column.column],
            "place": _place(layout, column),
        }
        for column in quasi(layout)
    ]
    parameters = {**tables, "compared": compared, "columns": columns, "rows": ROWS}
    return render("verify/side_by_side", parameters).text


def _place(layout: Layout, column: PublishedColumn) -> str:
    """Column of the compared pairs with the original values; no published column has this name."""
    return f"anonymizer:original_{layout.columns.index(column)}"


def _questions(
    originals: Originals,
    tables: dict[str, Any],
    view: Table,
    layout: Layout,
    suppressed: int | Sql,
    promoted: bool,
    compared: Table,
) -> Iterator[Question]:
    counts = {"label": "what"}
    left_out = suppressed if isinstance(suppressed, Sql) else lit(suppressed)
    rows = {**tables, **counts, "suppressed": left_out}
    yield condition("source_rows", None, rows, "n")
    shown = {**tables, **counts, "data": view, "columns": [ident(c) for c in column_names(layout)]}
    yield condition("source_link", None, shown, "n")
    if layout.person_id is not None and originals.person is not None:
        persons = {**tables, **counts, "person": layout.person_id, "physical": originals.person}
        yield condition("source_persons", None, persons, "n")
    needs = side_by_side(originals, tables, layout, compared) if quasi(layout) else None
    for column in layout.columns:
        parameters = {
            **tables,
            **of_column(column),
            "physical": originals.values[column.column],
        }
        if column.column in layout.tables:
            held = Table(layout.tables[column.column], view.schema, view.catalog)
            own = {"group": layout.group_id, "label": layout.group_id, "person": layout.person_id}
            separated = {**parameters, **own, "values_table": held}
            yield condition("source_values", column.column, separated, "mismatches")
            continue
        if column.role in ("quasi", "semi"):
            cells = {
                **parameters,
                "compared": compared,
                "rows": ROWS,
                "place": _place(layout, column),
                "nodes": originals.nodes.get(column.column),
            }
            yield condition("source_covers", column.column, cells, "uncovered", needs=needs)
            on_grid = column.grid is not None and column.kind != "categorical"
            cells = {
                **cells,
                "label": "what",
                "admitted": originals.admitted.get(column.column),
                "below": below(column) if on_grid else Sql("b.lo < x.lo"),
                "above": above(column) if on_grid else Sql("b.hi > x.hi"),
            }
            yield condition("source_spanned", column.column, cells, "n", needs=needs)
        if column.bucket is not None:
            dealt = {**parameters, "label": column.bucket}
            yield condition("source_bucket", column.column, dealt, "mismatches")
            flag = originals.flags.get(column.column)
            if flag is not None:
                flags = {**parameters, "flag": flag}
                yield condition("source_flags", column.column, flags, "mismatches")
                if not promoted:
                    yield condition("source_unflagged", column.column, flags, "mismatches")
        elif column.role in AS_THEY_WERE:
            yield condition("source_equal", column.column, parameters, "changed")
    yield from against_originals(originals)
