"""Facts about a source after it was read and its hierarchies were built."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from anonymizer.algorithms.persons.boxes import span
from anonymizer.compile import Table, ident
from anonymizer.engines.session import Session
from anonymizer.policy import Policy
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import row_counts, rows_read


def counted(policy: Policy, session: Session, described: Roles) -> tuple[int, int, TableProfile]:
    """Rows read, rows kept, and the source's profile with counts and the heights of hierarchies.

    Rows that `nulls: suppress` leaves out count only as read. Needs the snapshot, the tables of
    values and the hierarchies.
    """
    engine = session.engine
    text = counting(policy, described, at_once=engine.reads_once)
    read, rows, *figures = _figures(session, text)
    quasi, clusters = len(described.quasi), policy.algorithm.clusters_persons
    return (
        read,
        rows,
        dataclasses.replace(
            session.profile,
            rows=rows,
            left_out=read - rows,
            distinct=tuple(figures[0 : 2 * quasi : 2]),
            heights=tuple(figures[1 : 2 * quasi : 2]),
            spans=_figures(session, spanning(described)) if clusters else (),
            nulls=tuple(rows - n for n in figures[len(figures) - quasi :]),
            sensitive_heights=tuple(figures[2 * quasi : -quasi or None]),
        ),
    )


def counting(policy: Policy, described: Roles, *, at_once: bool) -> str:
    """The query for all counts, one numbered row each: columns would be planned as a join."""
    kept_rows, *known_rows = row_counts(described, at_once=at_once)
    counts: list[str] = [f"select count(*) from {ident(rows_read(policy, described))}", kept_rows]
    for a in described.quasi:
        counts += [
            f"select count(*) from {ident(a.values)}",
            _height(policy, a.column, a.hierarchy),
        ]
    counts += [_height(policy, s.column, s.hierarchy) for s in described.sensitive]
    return _numbered([*counts, *known_rows])


def spanning(described: Roles) -> str:
    """The query for the span of each quasi-identifier; it reads no rows, so that no engine but the
    one of compact state counts units of time.
    """
    return _numbered([span(a) for a in described.quasi])


def _numbered(counts: Iterable[str]) -> str:
    return "\nunion all ".join(
        f"select {number} as number, ({query}) as figure" for number, query in enumerate(counts)
    )


def _figures(session: Session, text: str) -> tuple[int, ...]:
    found = sorted(session.engine.raw(text, "counts of the source"))
    return tuple(int(figure or 0) for _, figure in found)


def _height(policy: Policy, column: str, hierarchy: Table) -> str:
    if policy.columns[column].hierarchy is None:
        return "select 0"
    return f"select max(level) from {ident(hierarchy)}"
