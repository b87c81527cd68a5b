"""Checks of masking roles: the options that each needs, and invalid combinations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.masking import CALENDAR, NEEDED
from anonymizer.policy.paths import column_path

if TYPE_CHECKING:
    from anonymizer.policy.columns import Column
    from anonymizer.policy.fields import PolicyFields


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
    """Whether rounding to the step leaves a value unchanged."""
    if isinstance(value, str) or isinstance(step, str):
        if not isinstance(value, str) or not isinstance(step, str):
            return True  # (the type of the column decides which of the two is wrong)
        return _begins(datetime.fromisoformat(value), step)
    return Decimal(str(value)) % Decimal(str(step)) == 0


def _begins(at: datetime, unit: str) -> bool:
    """Whether a unit of the calendar begins at this instant."""
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
