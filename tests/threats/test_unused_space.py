"""Space of a release's file that holds nothing: what was deleted from it can be read there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.compile import Table
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import EngineError, GuaranteeError, TargetError
from anonymizer.publish import rewrite as rewriting
from anonymizer.publish.export import export
from anonymizer.publish.rewrite import rewrite
from anonymizer.release.judge import fingerprint
from anonymizer.release.manifest import Manifest, write_manifest
from anonymizer.release.objects import Names
from tests import runs
from tests.forging import Place
from tests.selection import some

ROWS = 60_000
COLUMNS: dict[str, Any] = {"age": "quasi", "ill": "sensitive"}
TEXTS: dict[str, Any] = {
    "age": "quasi",
    "ill": {"role": "sensitive", "acknowledge_unique": True},
}
NAME = b"Lovelace of Ockham"


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> Place[Policy]:
    """A release beside another in one file, which was replaced once."""
    folder = tmp_path_factory.mktemp("release")
    database = folder / "source.duckdb"
    with duckdb.connect(str(database)) as connection:
        made = f"select i % 60 as age, i % 7 as ill from range({ROWS}) t(i)"
        connection.execute(f"create table people as {made}")
    policy = runs.policy(folder, COLUMNS, k=3, publish={"cells": "typed"})
    other = runs.policy(folder, COLUMNS, k=4, publish={"name": "other"})
    for seed, one in enumerate((policy, other, policy)):
        runs.run(one, database, seed=seed)
    return Place(folder, policy)


@pytest.fixture
def file(correct: Place[Policy], tmp_path: Path) -> Path:
    return Path(shutil.copy(correct.file, tmp_path))


def deleted(file: Path) -> None:
    """A raw table that was made in the file of the release, and dropped."""
    with duckdb.connect(str(file)) as connection:
        connection.execute("set force_compression = 'uncompressed'")
        raw = f"select 'Ada {NAME.decode()} ' || i as who from range(30000) t(i)"
        connection.execute(f"create table raw as {raw}")
        connection.execute("checkpoint")
        # what stands behind it in the file keeps the file as long
        ((rows,),) = connection.execute(
            "select object_name from _anonymizer.objects where kind = 'rows'"
            " and release = 'main.people_anonymous'"
        ).fetchall()
        connection.execute(f"create table copied as from {rows}")
        connection.execute("checkpoint")
        connection.execute(f"drop table {rows}")
        connection.execute(f"alter table copied rename to {rows}")
        connection.execute("drop table raw")


def appended(file: Path) -> None:
    with file.open("ab") as handle:
        handle.write(NAME * 20_000)


@some(1)
@pytest.mark.parametrize("change", [deleted, appended])
def test_what_was_deleted_is_not_handed_out(
    correct: Place[Policy], file: Path, change: Callable[[Path], None]
) -> None:
    change(file)
    assert NAME in file.read_bytes()
    for policy in (correct.policy, None):
        with pytest.raises(GuaranteeError, match="anonymizer clean --rewrite"):
            anonymizer.verify(policy, file)
    with pytest.raises(GuaranteeError, match="anonymizer clean --rewrite"):
        export(correct.policy, file.parent / "out.csv", file)
    rewrite(file)
    assert NAME not in file.read_bytes()
    assert anonymizer.verify(correct.policy, file).passed


@pytest.mark.slow
def test_a_dropped_copy_of_the_release(tmp_path: Path) -> None:
    """What was deleted is in the rows as well, so that nobody can tell that it is gone."""
    # (a format in which the engine writes the copy made anew as it wrote the one that was dropped)
    policy = runs.policy(tmp_path, TEXTS, k=3, publish={"storage": "v1.0.0"})
    database = tmp_path / "source.duckdb"
    with duckdb.connect(str(database)) as connection:
        ill = "'Disease number ' || (i * 7919) % 20011 || ' of the ' || i % 13 || ' catalogue'"
        made = f"select i % 60 as age, {ill} as ill from range({ROWS}) t(i)"
        connection.execute(f"create table people as {made}")
    runs.run(policy, database)
    file = tmp_path / "release.duckdb"
    with duckdb.connect(str(file)) as connection:
        ((rows,),) = connection.execute(
            "select object_name from _anonymizer.objects where kind = 'rows'"
        ).fetchall()
        for statement in (
            *("set force_compression = 'zstd'", f"create table raw as from {rows}", "checkpoint"),
            *("reset force_compression", f"create table copied as from {rows}", "checkpoint"),
            *(f"drop table {rows}", f"alter table copied rename to {rows}", "drop table raw"),
        ):
            connection.execute(statement)
    before = file.read_bytes()
    with pytest.raises(GuaranteeError, match=r"text from its unused space.*`anonymizer run`"):
        rewrite(file)
    assert file.read_bytes() == before
    runs.run(policy, database, seed=2)
    assert anonymizer.verify(policy, file).passed


@pytest.mark.parametrize("other", ["people", "visits"])
def test_a_copy_that_differs_in_one_table_is_not_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """Each table of the new file is compared with its own in the old one."""
    file = tmp_path / "two.duckdb"
    with duckdb.connect(str(file)) as connection:
        for name in ("people", "visits"):
            connection.execute(f"create table {name} as from range(100)")
    before = file.read_bytes()
    honest = fingerprint

    def differing(engine: DuckDBEngine, table: Table) -> object:
        found = honest(engine, table)
        return None if (table.name, table.catalog) == (other, rewriting.NEW) else found

    with monkeypatch.context() as broken:
        broken.setattr(rewriting, "fingerprint", differing)
        with pytest.raises(TargetError, match="its copy differs from it"):
            rewrite(file)
    assert file.read_bytes() == before
    assert rewrite(file).tables == 2


def test_a_run_publishes_no_file_with_unused_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an engine may leave in the file that it builds is noticed before it is published."""

    def leaving(engine: DuckDBEngine, names: Names, catalog: str, manifest: Manifest) -> None:
        raw = f"select 'Ada {NAME.decode()} ' || i as who from range(300000) t(i)"
        engine.raw(f"create table {catalog}.raw as {raw}", "test")
        engine.raw(f"checkpoint {catalog}", "test")
        write_manifest(engine, names, catalog, manifest)
        engine.raw(f"drop table {catalog}.raw", "test")

    monkeypatch.setattr("anonymizer.publish.duckdb.file.write_manifest", leaving)
    policy = runs.policy(tmp_path, COLUMNS, k=3)
    rows = [(i % 60, i % 7) for i in range(600)]
    with pytest.raises(EngineError, match=r"publish\.database: was built with unused space"):
        runs.run(policy, runs.source(tmp_path, {"age": "INTEGER", "ill": "INTEGER"}, rows))
    assert {path.name for path in tmp_path.iterdir()} == {"source.duckdb"}


@pytest.mark.slow
def test_a_release_is_written_without_unused_space(correct: Place[Policy], file: Path) -> None:
    assert anonymizer.verify(correct.policy, file).passed
    rewrite(file)
    assert anonymizer.verify(correct.policy, file).passed
