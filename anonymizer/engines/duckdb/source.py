"""Opens the source of a run on DuckDB, and creates the private folder of a run that writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.session import open_session
from anonymizer.engines.session import Database, Session, Workplace
from anonymizer.policy import Policy
from anonymizer.process import run_folder


@contextmanager
def open_source(
    policy: Policy, database: Database, run: Workplace, limits: Limits
) -> Iterator[Session]:
    """Open the source of `policy`, with a folder for spilled data if the run writes."""
    if not run.writes:
        with open_session(policy, database, beside=run.beside, limits=limits) as session:
            yield session
        return
    building = run_folder.building_of(run.file, run.run_id) if run.file is not None else None
    folder = run_folder.create(run.run_id, building)
    files = [run.file, building] if run.file is not None and building is not None else []
    try:
        with open_session(
            policy, database, beside=run.beside, spill=folder.path, databases=files, limits=limits
        ) as session:
            yield session
    finally:
        folder.remove()
