"""A sample of a source, to try a policy before running it on the whole table."""

from __future__ import annotations

from dataclasses import replace

from anonymizer.compile import ident, work
from anonymizer.engines.session import Session
from anonymizer.policy import Policy
from anonymizer.source.relation import Relation

DRAWN = work("drawn_rows")


def sample_of(policy: Policy, session: Session, rows: int, wanted: int) -> tuple[Session, int]:
    """A session with a sample of about `wanted` rows as its source, and the number of rows.

    A source with no more rows is used as a whole.
    """
    if rows <= wanted:
        return session, rows
    drawn = f"create or replace table {ident(DRAWN)} as {_drawn(policy, session, rows, wanted)}"
    session.engine.raw(drawn, "sample")
    count = session.engine.raw(f"select count(*) from {ident(DRAWN)}", "sample")[0][0]
    return replace(session, source=Relation(ident(DRAWN), DRAWN)), int(count)


def _drawn(policy: Policy, session: Session, rows: int, wanted: int) -> str:
    """Draw about `wanted` rows of the source, with all rows of a person; the same on every call."""
    every = f"select * from {session.source.sql}"
    if policy.person is not None:
        person = f"cast({ident(policy.person)} as varchar)"
        return f"{every} where md5_number_lower({person}) % {rows} < {wanted}"
    return f"{every} using sample reservoir({wanted} rows) repeatable (7)"
