"""The demonstration: a real table, a policy for it, and a release, in one folder.

The table is UCI Adult (Becker and Kohavi 1996, CC BY 4.0; see NOTICE) with two added columns:
`person_id`, and `hide_age`, a consent flag drawn from the row number. The demonstration with
several tables is a made-up hospital.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from anonymizer.compile import lit
from anonymizer.errors import EngineError, TargetError

if TYPE_CHECKING:
    from anonymizer.engines.execute import Listener
    from anonymizer.process.secret import Seed
    from anonymizer.release.published import Release
    from anonymizer.review.counts import CountsAttack

FOLDER = "anonymizer-demo"
MARK = ".anonymizer-demo"
REPORT = "report.html"
ROWS = 5
ANOTHER = "name another folder: anonymizer demo DIR"

# About three in sixteen hide their age; md5 makes the choice the same on every machine.
TABLE = """
create or replace table adult as
select
    number as person_id,
    substr(md5('hide age ' || number), 1, 1) < '3' as hide_age,
    age, sex, race, education, education_num, marital_status, relationship, native_country,
    workclass, occupation, income, hours_per_week, capital_gain, capital_loss, fnlwgt
from (select row_number() over () as number, * from read_parquet($file))
order by number
"""

HOSPITAL_FOLDER = "anonymizer-hospital"
HOSPITAL = """
create or replace table patients as from read_parquet($file || '/patients.parquet');
create or replace table visits as from read_parquet($file || '/visits.parquet');
create or replace table labs as from read_parquet($file || '/labs.parquet')
"""


@dataclass(frozen=True, slots=True)
class Demo:
    """The files of a demonstration."""

    folder: Path
    kept: tuple[str, ...]
    """Files that the user had edited and that were left unchanged."""
    name: str = "adult"

    @property
    def database(self) -> Path:
        return self.folder / f"{self.name}.duckdb"

    @property
    def policy(self) -> Path:
        return self.folder / "policy.yml"

    @property
    def release(self) -> Path:
        return self.folder / f"{self.name}_release.duckdb"


def write(folder: str | Path = FOLDER) -> Demo:
    """Write source database, hierarchies and policy into `folder`; run nothing.

    The folder of an earlier demonstration is reused; files edited there are kept. Raises
    TargetError for a folder that holds anything else.
    """
    path = Path(folder)
    _claim(path)
    data = files("anonymizer") / "data"
    kept: list[str] = []
    (path / "hierarchies").mkdir(exist_ok=True)
    for entry in sorted((data / "hierarchies").iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".csv"):
            _write(path, f"hierarchies/{entry.name}", entry, kept)
    _write(path, "policy.yml", data / "demo_policy.yml", kept)
    demo = Demo(path, tuple(kept))
    _write_tables(demo, data / "adult.parquet", TABLE)
    return demo


COUNTS_FOLDER = "anonymizer-counts"
NAIVE = """
select education, occupation, sex, case when count(*) >= 5 then count(*) end as persons
from (select education, coalesce(occupation, 'unknown') as occupation, sex from adult) as people
group by cube (education, occupation, sex)
"""
"""The table that is usually published: small counts are blank, all totals are there."""


def write_counts(folder: str | Path = COUNTS_FOLDER) -> Demo:
    """Write the source database and a policy of counts into `folder`; run nothing.

    Folders are treated as in `write`. Raises TargetError for a folder that holds anything else.
    """
    path = Path(folder)
    _claim(path)
    data = files("anonymizer") / "data"
    kept: list[str] = []
    _write(path, "policy.yml", data / "demo_counts.yml", kept)
    demo = Demo(path, tuple(kept))
    _write_tables(demo, data / "adult.parquet", TABLE)
    return demo


def attack_naive(demo: Demo) -> CountsAttack | None:
    """Attack the table of counts whose small ones are only blank; None without a solver."""
    from anonymizer.review.counts import assess_counts

    try:
        return assess_counts(NAIVE, demo.database, by=("education", "occupation", "sex"), minimum=5)
    except EngineError:
        return None


def write_hospital(folder: str | Path = HOSPITAL_FOLDER) -> Demo:
    """Write a three-table hospital database and its policy into `folder`; run nothing.

    Folders are treated as in `write`. Raises TargetError for a folder that holds anything else.
    """
    path = Path(folder)
    _claim(path)
    data = files("anonymizer") / "data" / "hospital"
    kept: list[str] = []
    _write(path, "policy.yml", data / "policy.yml", kept)
    demo = Demo(path, tuple(kept), "hospital")
    _write_tables(demo, data, HOSPITAL)
    return demo


def run(demo: Demo, *, seed: Seed | None = None, listener: Listener | None = None) -> Release:
    """Anonymize, verify and publish the table of a demonstration."""
    from anonymizer.policy import Policy
    from anonymizer.run.verbs import run as run_policy

    return run_policy(Policy.load(demo.policy), demo.database, seed=seed, listener=listener)


def report(demo: Demo) -> Path:
    """Write the report on the release of a demonstration, next to it."""
    from anonymizer.policy import Policy
    from anonymizer.review.report import write_report

    target = demo.folder / REPORT
    write_report(Policy.load(demo.policy), target, source=demo.database)
    return target


@contextmanager
def imports_ahead() -> Iterator[None]:
    """Import the libraries of later steps while the database works and Python is idle.

    All imports have finished when the `with` block ends.
    """

    def imports() -> None:
        with suppress(ImportError):
            import pandas  # noqa: F401
            from matplotlib import figure  # noqa: F401
            from matplotlib.backends import backend_svg  # noqa: F401

    thread = Thread(target=imports, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def head(database: Path, relation: str) -> list[list[str]]:
    """Names and first rows of a relation of the demonstration, as text."""
    import duckdb

    with duckdb.connect(str(database), read_only=True) as connection:
        cursor = connection.execute(f"from {relation} limit {ROWS}")
        names = [entry[0] for entry in cursor.description or ()]
        rows = cursor.fetchall()
    return [names, *(["" if cell is None else str(cell) for cell in row] for row in rows)]


def _claim(path: Path) -> None:
    """Mark a folder as a demonstration's, if it is new, empty, or marked already."""
    if path.exists() and not path.is_dir():
        raise TargetError.at("DIR", "is a file, not a folder", hint="name a new folder")
    try:
        if path.is_dir() and any(path.iterdir()) and not (path / MARK).is_file():
            raise TargetError.at(
                "DIR",
                f"the folder {path.name} is not empty and is not one of an earlier demo",
                hint="name a new folder: anonymizer demo DIR",
            )
        path.mkdir(parents=True, exist_ok=True)
        (path / MARK).write_text("A folder of `anonymizer demo`; it may be removed as a whole.\n")
    except OSError as error:
        said = f"cannot be written: {os.strerror(error.errno or 0)}"
        raise TargetError.at("DIR", said, hint=ANOTHER) from error


def _write(folder: Path, name: str, source: Traversable, kept: list[str]) -> None:
    target, content = folder / name, source.read_bytes()
    if not target.exists():
        aside = target.with_name(f"{target.name}.new")
        try:  # otherwise a partly written file would later count as edited
            aside.write_bytes(content)
            aside.replace(target)
        except OSError as error:
            said = f"{name} cannot be written: {os.strerror(error.errno or 0)}"
            raise TargetError.at("DIR", said, hint=ANOTHER) from error
        finally:
            aside.unlink(missing_ok=True)
    elif target.read_bytes() != content:
        kept.append(name)


def _write_tables(demo: Demo, source: Traversable, statements: str) -> None:
    from importlib.resources import as_file

    import duckdb

    if demo.database.exists():
        return
    aside = demo.database.with_name(f"{demo.database.name}.new")
    aside.unlink(missing_ok=True)  # left by an interrupted demonstration
    try:
        with as_file(source) as file, duckdb.connect() as connection:
            # a storage version that every DuckDB shell can open
            connection.execute(f"attach {lit(str(aside)).text} as demo (storage_version 'v1.0.0')")
            connection.execute("use demo")
            for statement in filter(str.strip, statements.split(";")):
                connection.execute(statement, {"file": str(file)}).fetchall()
        aside.replace(demo.database)
    except duckdb.Error as error:
        raise EngineError.at(
            "DIR", "the source database cannot be written", hint="is the disk full?"
        ) from error
    finally:
        for file in (aside, aside.with_name(f"{aside.name}.wal")):
            file.unlink(missing_ok=True)
