"""Opens the source of a run in a Postgres database: a table, or a query that is run once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.engines.base import Limits
from anonymizer.engines.postgres.connection import PostgresEngine, own_names
from anonymizer.engines.postgres.handover import lent
from anonymizer.engines.postgres.session import address, postgres_engine
from anonymizer.engines.postgres.workplace import remove_dead_runs, work_tables
from anonymizer.engines.session import Session, Workplace, find_table, refuse_repeated
from anonymizer.errors import PolicyError
from anonymizer.policy import Policy
from anonymizer.source.profile import TableProfile
from anonymizer.source.snapshot import QUERIED, Relation, with_owners

UNREAD = TableProfile((), recursive=False, numeric_draws=False, eras=False)
"""The profile of a source whose columns are not known yet."""


@contextmanager
def open_source(policy: Policy, database: Any, run: Workplace, limits: Limits) -> Iterator[Session]:
    """Open the source of `policy`, with a place for work tables, which are dropped afterwards."""
    with postgres_engine(address(database), limits) as engine:
        remove_dead_runs(engine)
        engine.lender = lent
        with work_tables(engine, run.run_id):
            yield Session(engine, *relation_of(policy, engine, QUERIED, run.check), None)


def relation_of(
    policy: Policy,
    engine: PostgresEngine,
    queried: Table,
    check: Callable[[Session], None] | None = None,
) -> tuple[Relation, TableProfile]:
    """See `anonymizer.engines.registry.further_source`; `check` is called before a query runs."""
    source = _relation(policy, engine, queried, check)
    columns = engine.described_source(source.sql.text, "source")
    refuse_repeated(columns)
    # (in one piece, a table does not leave the server)
    in_parts = policy.algorithm.must_divide
    profile = replace(UNREAD, columns=tuple(columns), in_parts=in_parts)
    return with_owners(policy, source, profile)


def _relation(
    policy: Policy,
    engine: PostgresEngine,
    queried: Table,
    check: Callable[[Session], None] | None,
) -> Relation:
    source = policy.source
    if source.kind == "query":
        if check is not None:
            check(Session(engine, Relation(ident(queried), queried), UNREAD, None))
        return _run_query(source.query or "", engine, queried)
    table = find_table(engine, source.table or "", "source.table")
    return Relation(ident(table), table)


def _run_query(query: str, engine: PostgresEngine, queried: Table) -> Relation:
    """Run a user's query once, under the role's search path, into a table of the run."""
    import sqlglot
    from sqlglot import exp

    from anonymizer.engines.postgres.dialect import table_text

    refusal = PolicyError.at("source.query", "is not one SELECT statement")
    try:
        trees = sqlglot.parse(query, read="postgres")
    except sqlglot.errors.SqlglotError:
        raise refusal from None
    writing = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Command, exp.Into)
    if len(trees) != 1 or not isinstance(trees[0], exp.Query) or trees[0].find(*writing):
        raise refusal
    target = engine.with_schema(table_text(ident(queried).text))
    text = query.strip().rstrip(";")
    with own_names(engine):
        engine.native(
            f"create {engine.persistence} table {target} as select * from (\n{text}\n) as q",
            "source.query",
        )
    engine.native(f"analyze {target}", "source.query")
    return Relation(ident(queried), queried)
