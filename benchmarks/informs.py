"""The INFORMS tables as benchmarks of persons use them: the persons with a diagnosis."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer import Policy
from anonymizer.algorithms.compiled import STAGED
from anonymizer.compile import Table
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.session import open_session
from anonymizer.engines.execute import Executor
from anonymizer.process.seed import Seed
from anonymizer.run.prepare import Prepared, prepare
from anonymizer.run.source_checks import stage_link
from benchmarks.common import DATA, HIERARCHIES

QUASI = (
    "birth_month",
    "birth_year",
    "sex",
    "race",
    "education_years",
    "marital_status",
    "poverty",
    "hispanic",
)
NUMERIC = {"birth_month", "birth_year", "education_years"}
TAXONOMIES = ("fine", "coarse")


def table(folder: Path) -> Path:
    """The 102,673 rows of the 26,735 persons with a diagnosis code, as one file."""
    import duckdb

    target = folder / "informs.parquet"
    if not target.exists():
        columns = ", ".join(f"p.{name}" for name in QUASI)
        with duckdb.connect() as connection:
            connection.execute(
                f"copy (select p.person_id, {columns}, c.icd9_code as diagnosis"
                f" from '{DATA}/informs_persons.parquet' p"
                f" join '{DATA}/informs_conditions.parquet' c using (person_id)"
                f" where c.icd9_code is not null order by 1, 10) to '{target}'"
            )
    return target


def large_table(folder: Path, copies: int = 10) -> Path:
    """Copies of every person with a birth year moved by up to two years, and codes of others."""
    import duckdb

    target = folder / f"informs_{copies}.parquet"
    if not target.exists():
        columns = ", ".join(
            "x.birth_year + cast(hash(x.person_id, copy) % 5 as integer) - 2 as birth_year"
            if name == "birth_year"
            else f"x.{name}"
            for name in QUASI
        )
        with duckdb.connect() as connection:
            connection.execute(
                "create table numbered as select row_number() over"
                f" (order by person_id, diagnosis) as i, * from '{table(folder)}'"
            )
            (total,) = connection.execute("select count(*) from numbered").fetchall()[0]
            connection.execute(
                "copy (with x as (select n.*, r.copy,"
                f" 1 + hash(n.i, r.copy) % {total} as j from numbered n, range({copies}) r(copy))"
                f" select x.person_id || '-' || copy as person_id, {columns}, m.diagnosis"
                f" from x join numbered m on m.i = x.j) to '{target}'"
            )
    return target


def policy(
    source: Path,
    privacy: Mapping[str, Any],
    algorithm: Mapping[str, Any],
    d: int = 6,
    taxonomy: str | None = None,
) -> Policy:
    """A policy over the first `d` quasi-identifiers, `taxonomy` naming a set of hierarchies."""
    columns: dict[str, Any] = {"person_id": {"role": "drop"}, "diagnosis": {"role": "sensitive"}}
    for i, name in enumerate(QUASI):
        columns[name] = {"role": "drop"}
        if i < d:
            kind = "numeric" if name in NUMERIC else "categorical"
            columns[name] = {"role": "quasi", "kind": kind}
            if taxonomy is not None:
                file = HIERARCHIES / "informs" / taxonomy / f"{name}.csv"
                columns[name]["hierarchy"] = {"file": str(file)}
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"file": str(source)},
            "person": "person_id",
            "columns": columns,
            "privacy": dict(privacy),
            "algorithm": dict(algorithm),
            "suppression_limit": 1,
            "publish": {"name": "informs", "database": "unused.duckdb"},
        }
    )


@dataclass(frozen=True)
class Done:
    """A run in scratch: everything but the publishing."""

    prepared: Prepared
    executor: Executor
    seconds: float
    """CPU time of reading and anonymizing."""
    wall: float
    """The same by the clock."""
    view: Table = STAGED

    def raw(self, query: str) -> list[tuple[Any, ...]]:
        return self.executor.engine.raw(query, "benchmark")


@contextmanager
def anonymized(given: Policy, seed: int, threads: int | None = None) -> Iterator[Done]:
    """Run a policy in scratch; the released rows stand in STAGED, the source beside them."""
    began, clock = cpu(), time.perf_counter()
    with open_session(given, None, limits=Limits(threads=threads)) as session:
        session.engine.binds = {"secret": Seed.test(seed).secret}
        executor = Executor(session.engine)
        prepared = prepare(given, session, executor)
        executor.run(prepared.compiled.stages)
        executor.run([prepared.compiled.assembly.step(STAGED)])
        spent, wall = cpu() - began, time.perf_counter() - clock
        stage_link(session.engine, prepared.compiled, prepared.roles)
        yield Done(prepared, executor, spent, wall)


def cpu() -> float:
    """CPU seconds of this process, user and system, all threads."""
    times = os.times()
    return times.user + times.system


def scratch() -> Path:
    """A folder for generated tables, kept between benchmarks."""
    folder = Path(tempfile.gettempdir()) / "sql-anonymizer-benchmarks"
    folder.mkdir(exist_ok=True)
    return folder
