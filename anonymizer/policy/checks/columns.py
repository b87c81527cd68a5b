"""Checks of columns: whether their options fit role and kind, and those that others name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from anonymizer.errors import Problem
from anonymizer.policy.columns import CALENDAR, NEEDED, OPTIONS
from anonymizer.policy.paths import closest, column_path, name_text
from anonymizer.policy.values import Together, columns_of

if TYPE_CHECKING:
    from anonymizer.policy.columns import Column
    from anonymizer.policy.fields import PolicyFields


BARE_NAME = re.compile(r"\s*(?:(?P<plain>[^\W\d]\w*)|\"(?P<quoted>(?:[^\"]|\"\")+)\")\s*")
CONSTANTS = {"true", "false", "null"}


def key_and_person(policy: PolicyFields) -> Iterator[Problem]:
    """Key and person are listed columns that are not published unchanged."""
    for option in ("key", "person"):
        given = getattr(policy, option)
        if isinstance(given, Together):
            yield from _together(policy, option, given)
        for name in columns_of(given):
            column = policy.columns.get(name)
            if column is None:
                near = closest(name, policy.columns) or "list it there, as role: drop"
                said = "is not a column listed under columns"
                if isinstance(given, Together):
                    said = f"names {name_text(name)}, which {said}"
                yield Problem(option, said, hint=near)
            elif name == given and column.role not in HIDDEN:
                said = f"is the {option} and would be published by the role {column.role}"
                yield Problem(column_path(name, "role"), said, ", ".join(HIDDEN))


HIDDEN = ("drop", "identifier", "token")
"""The roles of columns that identify."""


def _together(policy: PolicyFields, option: str, given: Together) -> Iterator[Problem]:
    """Columns that identify together: one of them at least is hidden."""
    if given in policy.columns:
        said = f"has the name that the columns of {option} have together"
        yield Problem(column_path(given), said, hint="rename it in source.query")
    roles = {column.role for name, column in policy.columns.items() if name in given.columns}
    if roles and not roles.intersection(HIDDEN):
        hint = f"one of them: {' or '.join(HIDDEN)}"
        yield Problem(option, "names columns that are all published", hint=hint)


def bare_condition(policy: PolicyFields) -> Iterator[Problem]:
    """A condition that is only a name must name a listed column."""
    known = {name.casefold() for name in policy.columns}
    for name, column in policy.columns.items():
        found = BARE_NAME.fullmatch(column.sensitive_when or "")
        if found is None or (found["plain"] or "").lower() in CONSTANTS:
            continue
        meant = found["plain"] or found["quoted"].replace('""', '"')
        if meant.casefold() not in known:
            near = closest(meant, policy.columns)
            hint = near or "list the column under columns, as role: drop"
            path = column_path(name, "sensitive_when")
            yield Problem(path, "names a column that is not listed under columns", hint=hint)


def person_options(policy: PolicyFields) -> Iterator[Problem]:
    """Merging the rows of a person needs a person."""
    if policy.merge_person_rows and policy.person is None:
        yield Problem("merge_person_rows", "needs a person", hint="person: <column>")


def semi_sensitive(policy: PolicyFields) -> Iterator[Problem]:
    """Only lgb treats single cells as sensitive."""
    if policy.algorithm.values_in == "bucket":
        return
    for name in policy.semi_sensitive:
        said = f"is not supported by {policy.algorithm.name}: cells are protected one by one by lgb"
        yield Problem(column_path(name, "sensitive_when"), said, hint="algorithm: {name: lgb}")


ORDERED_BUILDERS = ("conventional", "divisor", "cardinality", "on_the_fly", "intervals")
"""Builders of intervals: for numbers and dates."""

NO_STRUCTURE = "add a hierarchy to the column for distance: hierarchical, or distance: equal"


COARSE = ("top_code", "bottom_code", "round", "redact", "zip3")
"""Masking roles that may leave values nearly unchanged."""

ROLES: Mapping[str, tuple[tuple[str, ...], str | None]] = {
    "hierarchy": (("quasi", "sensitive"), None),
    "sensitive_when": (("quasi",), None),
    "protect": (("sensitive", "quasi"), "role: sensitive"),
    "nulls": (("quasi", "sensitive", "keep"), None),
    "acknowledge_unique": (("keep", "sensitive", "noise", *COARSE), None),
    "acknowledge": (("keep", "sensitive", "quasi", *COARSE), None),
    "null_as_value": (("sensitive", "quasi"), None),
    "weight": (("quasi",), None),
    "like": (("quasi",), None),
    "bounds": (("quasi",), None),
    "priority": (("quasi",), None),
    "minimum_level": (("quasi",), None),
    "presampling_level": (("quasi",), None),
    **{
        option: (tuple(mask for mask, has in OPTIONS.items() if option in has), None)
        for options in OPTIONS.values()
        for option in options
    },
    "top_code": (("quasi", "sensitive", "round"), "role: top_code, with at"),
    "bottom_code": (("quasi", "sensitive", "round"), "role: bottom_code, with at"),
    "zip3": (("quasi", "sensitive"), "role: zip3"),
    "round": (("quasi", "sensitive"), "role: round, with to"),
}
"""Options for certain roles only, with these roles and a hint."""


class Table(Protocol):
    """The policy of one table, or one table of a policy of several."""

    @property
    def columns(self) -> Mapping[str, Column]: ...


def some_column(table: Table) -> Iterator[Problem]:
    """A table has at least one column."""
    if not table.columns:
        yield Problem("columns", "is empty", hint="columns: {age: {role: quasi}}")


def same_name(policy: PolicyFields) -> Iterator[Problem]:
    """On DuckDB and Spark, which ignore the case of names, columns differ in more than case."""
    if policy.engine != "postgres":
        yield from same_but_for_case(policy, policy.engine)


def same_but_for_case(table: Table, engine: str) -> Iterator[Problem]:
    """Names that are equal for an engine that ignores case."""
    first: dict[str, str] = {}
    for name in table.columns:
        other = first.setdefault(name.casefold(), name)
        if other != name:
            said = f"names the same column as {name_text(other)}: {engine} ignores case"
            yield Problem(column_path(name), said)


def options_fit_role(policy: PolicyFields) -> Iterator[Problem]:
    """Options are only set for roles that use them."""
    for name, column in policy.columns.items():
        yield from misplaced(name, column)
        if column.role != "quasi":
            continue
        if column.protect is not None and column.sensitive_when is None:
            yield Problem(
                column_path(name, "protect"),
                "protects nothing: a quasi column is sensitive only under a condition",
                hint="add sensitive_when, or make it role: sensitive",
            )
        if column.protect is None and column.sensitive_when is not None:
            yield Problem(
                column_path(name, "protect"),
                "is missing: the cells that sensitive_when marks need a rule",
                hint="protect: {l_diversity: 3}",
            )
        if column.null_as_value and column.sensitive_when is None:
            yield Problem(
                column_path(name, "null_as_value"),
                "applies to sensitive values only",
                hint="NULLs of a quasi-identifier: nulls: own_class, suppress or forbid",
            )


def alike(policy: PolicyFields) -> Iterator[Problem]:
    """A column that is published like another one is neither cut nor weighed by itself."""
    for name, column in policy.columns.items():
        if column.like is None or column.role != "quasi":
            continue
        path, other = column_path(name, "like"), policy.columns.get(column.like)
        known = [n for n in policy.quasi if policy.columns[n].like is None and n != name]
        if other is None or column.like not in known:
            said = "is not a quasi-identifier with cells of its own"
            hint = closest(column.like, known)
            yield Problem(path, said, hint=hint or "name a column of role quasi, without like")
        elif other.sensitive_when is not None:
            yield Problem(path, "is sensitive in some rows", hint="name another column")
        for option in ("weight", "sensitive_when"):
            if getattr(column, option) is not None:
                said = f"cannot be combined with like: {name_text(column.like)}"
                yield Problem(column_path(name, option), said, hint="leave one of them out")
        why = _not_alike(policy)
        if why is not None:
            yield Problem(path, *why)


def may_follow(policy: PolicyFields, other: str) -> bool:
    """Return whether a column of this policy can be published like another one."""
    column = policy.columns[other]
    return not _not_alike(policy) and column.like is None and column.sensitive_when is None


def _not_alike(policy: PolicyFields) -> tuple[str, str, str] | None:
    """Why no column is published like another: message, what is allowed, and hint."""
    allowed, own = "algorithm mondrian, in one release of one table", "role: quasi without like"
    if policy.algorithm.name != "mondrian":
        return f"is not an option of {policy.algorithm.name}", allowed, own
    if policy.merge_person_rows or policy.privacy.populations or policy.continues:
        which = "merge_person_rows" if policy.merge_person_rows else "a population"
        which = "republish" if policy.continues else which
        return f"cannot be combined with {which}", allowed, own
    return None


def misplaced(
    name: str, column: Column, roles: Mapping[str, tuple[tuple[str, ...], str | None]] = ROLES
) -> Iterator[Problem]:
    """Options that the column's role does not use, with the roles that use them."""
    fields = type(column).model_fields
    for option, (fitting, hint) in roles.items():
        if column.role in fitting or getattr(column, option) == fields[option].default:
            continue
        said = f"does not apply to a column of the role {column.role}"
        yield Problem(column_path(name, option), said, f"role {' or '.join(fitting)}", hint)


def hierarchy_fits_kind(table: Table) -> Iterator[Problem]:
    """Intervals are for ordered kinds, calendar levels for dates."""
    for name, column in table.columns.items():
        if column.hierarchy is None or column.kind is None:
            continue
        builder, path = column.hierarchy.builder, column_path(name, "hierarchy", "builder")
        if column.kind == "categorical" and builder in ORDERED_BUILDERS:
            yield Problem(
                path,
                f"{builder} makes intervals, which categories do not have",
                "prefix, suffix, taxonomy, frequency, order",
                "kind: numeric, if the values are numbers",
            )
        if column.kind != "date" and builder == "date":
            yield Problem(path, f"date does not fit the kind {column.kind}", hint="kind: date")


def distance_has_order(table: Table) -> Iterator[Problem]:
    """The distances of t-closeness need an order or a hierarchy."""
    for name, column in table.columns.items():
        rule = column.protect.t_closeness if column.protect is not None else None
        if rule is None:
            continue
        if rule.distance == "hierarchical" and column.hierarchy is None:
            path = column_path(name, "protect", "t_closeness", "distance")
            yield Problem(path, "hierarchical needs a hierarchy", hint=NO_STRUCTURE)
        if column.kind is not None:
            yield from order_of_categories(name, column, column.kind)


def order_of_categories(name: str, column: Column, kind: str) -> Iterator[Problem]:
    """An ordered distance needs an ordered kind; checked again when the source's kind is known."""
    rule = column.protect.t_closeness if column.protect is not None else None
    if rule is not None and rule.distance == "ordered" and kind == "categorical":
        path = column_path(name, "protect", "t_closeness", "distance")
        # a hierarchy only groups values; a release does not show the order of its leaves
        hint = NO_STRUCTURE if column.hierarchy is None else "distance: hierarchical, or equal"
        yield Problem(path, "ordered needs an order, which categories lack", hint=hint)


# Checks of masking roles: the options that each needs, and invalid combinations.


def options_given(policy: PolicyFields) -> Iterator[Problem]:
    """Every masking role has its required options."""
    for name, column in policy.columns.items():
        yield from of_column(name, column)
        alike = (column.per, policy.person, policy.key)
        if column.role == "shift" and alike == (None, None, None):
            said = "is missing: rows that belong together are shifted alike, and no person is named"
            yield Problem(column_path(name, "per"), said, hint="person: <column>, or per: <column>")
        if column.per is not None and column.per not in policy.columns:
            said = "is not a column listed under columns"
            yield Problem(column_path(name, "per"), said, hint="list it there, as role: drop")
    together = policy.person or policy.key
    yield from shifted_alike(
        (column_path(name), column.per or together, column)
        for name, column in policy.columns.items()
        if column.role == "shift"
    )


def shifted_alike(shifts: Iterable[tuple[str, object, Column]]) -> Iterator[Problem]:
    """Dates of the same persons are shifted by the same days, so that intervals are kept.

    `shifts`: for every shifted column, its path, what defines its groups, and its options.
    """
    first: dict[object, tuple[str, Column]] = {}
    for path, group, column in shifts:
        other_path, other = first.setdefault(group, (path, column))
        for option in ("within", "keep", "key_file"):
            one, same = getattr(column, option), getattr(other, option)
            if option == "keep":
                one, same = "weekday" in one, "weekday" in same
            if one != same:
                said = f"differs from that of {other_path}: their dates would move by other days"
                hint = "the same in all columns of a person; or per: another column"
                yield Problem(f"{path}.{option}", said, hint=hint)
                break


def _codes_on_steps(name: str, column: Column, step: object) -> Iterator[Problem]:
    """Rounding does not change a code: it is a multiple, or the first instant of the unit."""
    if step is None:
        return
    for option, code in (("bottom_code", column.bottom_code), ("top_code", column.top_code)):
        if code is not None and (code.at is None or not on_step(code.at, step)):
            said = f"would be rounded beyond: it is no first instant, or no multiple, of {step}"
            if code.at is None:
                said = "is found in the values, and rounding would go beyond it"
            hint = "at: 1936-01-01 with round: year, at: 90 with round: 5"
            yield Problem(column_path(name, option), said, hint=hint)


def on_step(value: float | str, step: object) -> bool:
    """Return whether rounding to the step leaves a value unchanged."""
    if isinstance(value, str) or isinstance(step, str):
        if not isinstance(value, str) or not isinstance(step, str):
            return True  # (the type of the column decides which of the two is wrong)
        return _begins(datetime.fromisoformat(value), step)
    return Decimal(str(value)) % Decimal(str(step)) == 0


def _begins(at: datetime, unit: str) -> bool:
    """Return whether a unit of the calendar begins at this instant."""
    at = at.astimezone(UTC) if at.tzinfo is not None else at
    if (at.minute, at.second, at.microsecond) != (0, 0, 0):
        return False
    if unit == "hour" or at.hour != 0:
        return unit == "hour"
    match unit:
        case "year":
            return (at.month, at.day) == (1, 1)
        case "quarter":
            return at.month % 3 == 1 and at.day == 1
        case "month":
            return at.day == 1
        case "week":
            return at.isoweekday() == 1
    return True


def of_column(name: str, column: Column) -> Iterator[Problem]:
    """Checks of a column by itself."""
    options, example = NEEDED.get(column.role, ((), ""))
    given = [option for option in options if getattr(column, option) is not None]
    if options and len(given) != 1:
        said = "is missing" if not given else f"cannot be combined with {given[-1]}"
        place = options[0] if not given else given[0]
        yield Problem(column_path(name, place), said, " or ".join(options), example)
    step = column.to if column.role == "round" else column.round.to if column.round else None
    method = column.method if column.role == "round" else column.round and column.round.method
    if step in CALENDAR and method not in (None, "nearest", "down"):
        said = "is for numbers: dates are cut off"
        path = column_path(name, *(("method",) if column.role == "round" else ("round", "method")))
        yield Problem(path, said, hint="leave method out")
    if column.round is not None and column.round.method == "random":
        said = "is not available for a column that is grouped: equal values have to stay equal"
        yield Problem(column_path(name, "round", "method"), said, "nearest, down")
    yield from _codes_on_steps(name, column, step)
    if column.population is not None and not (column.role == "zip3" or column.zip3):
        said = "does not apply to a column that is not published by three digits of a ZIP code"
        yield Problem(column_path(name, "population"), said, "role zip3 or zip3: true")
    if column.role == "shift" and "weekday" in column.keep and (column.within or 7) < 7:
        said = "is less than a week, and keep: [weekday] shifts by whole weeks"
        yield Problem(column_path(name, "within"), said, hint="within: 8 weeks")
