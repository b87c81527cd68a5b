"""Waits for readers of what is replaced: again and again for a moment, so that nobody who comes
later has to wait behind the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from anonymizer.compile import Table, ident
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.errors import EngineError, TargetError

T = TypeVar("T")
MOMENT = "2s"
"""How long an attempt waits for locks. New readers wait as long; the server needs one second to
find that an automatic vacuum is in the way, which it then cancels."""
ATTEMPTS = 20
PAUSE = 1.0
"""Seconds between two attempts."""
IN_THE_WAY = ("55P03", "40P01")
"""SQLSTATEs of a lock that was not given in time, and of a deadlock."""
HOLDERS = """
    select distinct pid from pg_locks
    where granted and pid is distinct from pg_backend_pid() and locktype = 'relation'
        and database = (select oid from pg_database where datname = current_database())
        and relation in (select to_regclass(name) from unnest(%s::text[]) as names (name))
    order by pid
"""


def while_unused(
    engine: PostgresEngine, tables: Sequence[Table], path: str, swap: Callable[[], T]
) -> T:
    """Run the part of a transaction that locks `tables`; attempts that wait too long are undone.

    A `lock_timeout` of the role's own is waited for once instead. Raises TargetError if the tables
    are still in use.
    """
    own = engine.native("select current_setting('lock_timeout')", path)[0][0]
    for attempt in range(ATTEMPTS if own == "0" else 1):
        if attempt:
            time.sleep(PAUSE)
        engine.native("savepoint swap", path)
        if own == "0":
            engine.native(f"set local lock_timeout = '{MOMENT}'", path)
        try:
            return swap()
        except EngineError as error:
            if getattr(error.__cause__, "sqlstate", None) not in IN_THE_WAY:
                raise
        engine.native("rollback to savepoint swap", path)
    raise _in_use(engine, tables, path)


def _in_use(engine: PostgresEngine, tables: Sequence[Table], path: str) -> TargetError:
    names = [ident(table).text for table in tables]
    found = [pid for (pid,) in engine.native(HOLDERS, path, (names,))]
    pids = ", ".join("prepared" if pid is None else str(pid) for pid in found)
    who = f"{len(found)} open transactions (pid {pids})" if found else "another transaction"
    said = f"is in use by {who}: it stays as it was"
    hint = "run again when they are over (pg_stat_activity lists them), or let the role wait"
    return TargetError.at(path, said, hint=f"{hint}: alter role … set lock_timeout = '10min'")
