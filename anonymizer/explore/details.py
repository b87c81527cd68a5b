"""Details after a policy's figures: distributions, observers, and examples of published rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

from anonymizer.compile import Sql, Table, ident, render, work
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import PublishedColumn
from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError
from anonymizer.measure.staging import QueryTables, stage
from anonymizer.policy import Policy
from anonymizer.release.certificate import known_attacks
from anonymizer.review.assess import Assessment
from anonymizer.review.attack import Attack
from anonymizer.review.attack.attacks import attack_beside
from anonymizer.review.report.classes import after, before
from anonymizer.review.report.collect import FLOOR, floor_of
from anonymizer.review.report.distributions import compared
from anonymizer.review.scratch import Scratch, unit_of
from anonymizer.review.with_source import Beside

HIDDEN = "(rare)"


def rare_labels(
    run: RunSql,
    relation: Table | Sql,
    value: Sql,
    labels: Iterable[str | None],
    floor: int,
    *,
    number: bool,
    person: Sql | None = None,
) -> set[str]:
    """The labels that contain a value of fewer than `floor` rows (persons).

    A number must occur as a whole; of texts and dates any part counts, so that rather too many
    labels are hidden than too few.
    """
    wanted = sorted({label for label in labels if label})
    if not wanted:
        return set()
    parameters = {
        "source": relation,
        "relation": ident(relation),
        "value": value,
        "unit": Sql(f"count(distinct {person})") if person is not None else Sql("count(*)"),
        "labels": wanted,
        "floor": floor,
        "number": number,
    }
    return {str(row[0]) for row in run(render("explore/rare_labels.sql.j2", parameters).text)}


SHOWN = 8
"""Number of example rows."""
TARGETS = 2_000
"""Approximate number of rows (persons) that attacks look for."""


def floor_shown(policy: Policy) -> int:
    """Fewest rows (persons) of any value on the page, whatever the policy's guarantees."""
    return max(FLOOR, floor_of(policy))


def details_of(
    policy: Policy, found: Scratch, rows: int, check: Callable[[], None]
) -> dict[str, Any]:
    """Collect all details. `check` is called between two parts, and may raise to stop."""
    beside, floor = found.beside(policy), floor_shown(policy)
    check()
    return {
        "floor": floor,
        "unit": unit_of(policy),
        "distributions": list(_distributions(beside, floor, check)),
        "observers": _observers(policy, beside, rows, check),
        "known": known_attacks(policy),
        "examples": examples(policy, beside, found),
    }


def _distributions(
    beside: Beside, floor: int, check: Callable[[], None]
) -> Iterator[dict[str, Any]]:
    tables = QueryTables(work)
    layout = beside.layout
    staged = stage(beside.run_sql, beside.view, layout, beside.originals, None, tables)
    by_column = {a.column.column: a for a in staged}
    for column in layout.columns:
        check()
        yield asdict(compared(beside, column, by_column.get(column.column), floor))


def _observers(
    policy: Policy, beside: Beside, rows: int, check: Callable[[], None]
) -> list[dict[str, Any]]:
    if beside.layout.classless:
        return []
    check()
    was, now = before(policy, beside), after(beside)
    check()
    attacked = None
    try:
        share = min(1.0, TARGETS / max(rows, 1))
        attacked = attack_beside(beside, max(share, 1e-6))
    except AnonymizerError:
        pass  # a sample may contain none of the targets
    return list(_stopped(was, now, attacked))


def _stopped(was: Assessment, now: Assessment, attacked: Attack | None) -> Iterator[dict[str, Any]]:
    """What observers know or want, the risk before and after, and whether a bound holds."""
    bound = attacked.linking.bound if attacked is not None else None
    holds = None
    if bound is not None and now.risk.prosecutor_max is not None:
        holds = now.risk.prosecutor_max <= bound + 1e-9
    yield _observer(
        "knows all quasi-identifiers of somebody in the table, and looks for the row",
        was.risk.prosecutor_max, now.risk.prosecutor_max, bound, holds,
    )  # fmt: skip
    yield _observer(
        "links everybody at once with a list of names: share that is matched right",
        was.risk.prosecutor_average, now.risk.prosecutor_average, bound, holds,
    )  # fmt: skip
    for one in attacked.inference if attacked is not None else ():
        yield _observer(
            f"knows all quasi-identifiers of somebody, and wants to know {one.column}",
            None, one.most_confident, one.bound, one.holds if one.bound is not None else None,
        )  # fmt: skip
    for known in attacked.known_value if attacked is not None else ():
        chance = 1 / known.fewest_candidates if known.fewest_candidates else None
        yield _observer(
            f"also knows somebody's {known.column}, and looks for the row",
            None, chance, None, None,
        )  # fmt: skip


def _observer(
    who: str, was: float | None, now: float | None, bound: float | None, holds: bool | None
) -> dict[str, Any]:
    return {"who": who, "before": was, "after": now, "promised": bound, "stopped": holds}


def examples(policy: Policy, beside: Beside, found: Scratch) -> dict[str, Any]:
    """Example rows as published, if the policy holds; without rare values."""
    layout, floor = beside.layout, floor_shown(policy)
    group = layout.class_id or layout.group_id
    if group is None or not found.holds(policy):
        return {"columns": [], "rows": []}
    shown = [
        column
        for column in layout.columns
        if column.column not in layout.tables
        and (policy.person is None or column.role in ("quasi", "semi"))
    ]
    found_rows = beside.select(
        "explore/examples",
        data=beside.view,
        group=group,
        cells=[
            (cell_text(column), ident(f"c{i}"), ident(f"n{i}")) for i, column in enumerate(shown, 1)
        ],
        floor=floor,
        shown=SHOWN,
    )
    rows = [list(row) for row in found_rows]
    for place, column in enumerate(shown):
        hidden = rare_cells(policy, beside, column, [row[place] for row in rows])
        for row in rows:
            row[place] = HIDDEN if row[place] in hidden else row[place]
    return {"columns": [column.column for column in shown], "rows": rows}


def rare_cells(
    policy: Policy, beside: Beside, column: PublishedColumn, cells: Iterable[str | None]
) -> set[str]:
    """The cells of a column that show a value held by few rows (persons) of the source."""
    person = beside.originals.person
    return rare_labels(
        beside.run_sql,
        beside.originals.table,
        ident(beside.originals.values[column.column]),
        cells,
        floor_shown(policy),
        number=column.kind == "numeric",
        person=ident(person) if person is not None else None,
    )


def cell_text(column: PublishedColumn) -> Sql:
    """A published cell as one text; separate bounds are written as an interval."""
    if column.lo is not None and column.hi is not None:
        lo, hi = (f"cast({ident(name)} as varchar)" for name in (column.lo, column.hi))
        return Sql(f"case when {lo} = {hi} then {lo} else {lo} || ' – ' || {hi} end")
    return Sql(f"cast({ident(column.name or column.column)} as varchar)")


def raw_rows(session: Session) -> dict[str, Any]:
    """Raw rows of the source, if the server was started with permission to show them."""
    source = session.source
    parameters = {"source": source.table, "relation": source.sql, "shown": SHOWN}
    rows = session.engine.raw(render("explore/raw_rows.sql.j2", parameters).text, "source")
    return {
        "columns": [name for name, _ in session.profile.columns],
        "rows": [[None if value is None else str(value) for value in row] for row in rows],
    }
