"""Replacing the source: in one transaction, with consent, and without old bytes after a rewrite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main
from anonymizer.errors import AnonymizerError, GuaranteeError, SourceError, TargetError
from anonymizer.publish.rewrite import Blocks, rewrite
from tests.selection import some
from tests.threats.population import policy

COLUMNS: dict[str, Any] = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi"},
    "note": {"role": "drop"},
    "disease": {"role": "sensitive"},
}
ROWS = 1000


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(
            "create table visits as select 'patient-' || md5(i::varchar) as id, 20 + i % 50 as age,"
            " 'Notiz ' || md5('n' || i) || ' über Müller' as note, 'disease ' || i % 7 as disease"
            f" from range({ROWS}) r(i)"
        ).fetchall()
        connection.execute("create table others as select 'stays here' as word").fetchall()
        connection.execute("create view words as from others").fetchall()
    return path


def replacing(folder: Path, **changes: Any) -> anonymizer.Policy:
    options = {"columns": COLUMNS, "publish": {"replace_source": True}, "ledger": None}
    return policy(folder, **{**options, **changes})


def columns_of(path: Path) -> list[str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return [row[0] for row in connection.execute("describe visits").fetchall()]


@pytest.mark.slow
def test_leaks_replaced_source(tmp_path: Path, source: Path) -> None:
    chosen = replacing(tmp_path)
    with pytest.raises(TargetError) as raised:
        anonymizer.run(chosen, source)
    assert "--yes-replace-source" in (raised.value.problems[0].hint or "")
    assert "id" in columns_of(source)
    release = anonymizer.run(chosen, source, replace_source=True)
    assert columns_of(source) == ["class_id", "age", "disease"]
    assert "anonymizer clean --rewrite" in release.warnings[0]
    assert release.view == "main.visits"
    assert len(release.df()) == ROWS
    assert anonymizer.verify(chosen, source).passed
    assert anonymizer.verify(None, source).passed
    with pytest.raises(AnonymizerError):
        anonymizer.run(chosen, source, replace_source=True)
    # the old bytes are there, as the warning says, until the file is rewritten
    assert b"patient-" in source.read_bytes()
    done = rewrite(source, ["patient-", "Notiz", "Müller"])
    content = source.read_bytes()
    assert b"patient-" not in content
    assert b"Notiz" not in content
    assert done.pieces > 100
    assert done.values == 3
    assert done.bytes_after < done.bytes_before
    assert anonymizer.verify(chosen, source).passed
    with duckdb.connect(str(source), read_only=True) as connection:
        assert connection.execute("from words").fetchall() == [("stays here",)]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["source.duckdb", "visits.manifest.json"]


def test_leaks_rewrite_refuses_what_is_still_there(tmp_path: Path, source: Path) -> None:
    before = source.read_bytes()
    with pytest.raises(GuaranteeError) as raised:
        rewrite(source, ["stays here"])
    assert raised.value.problems[0].path == "--absent"
    assert "stays here" not in str(raised.value)
    assert source.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["source.duckdb"]


SIZE = 262_144


@some(1)
@pytest.mark.parametrize("size", [SIZE, 16_384])
def test_leaks_rewrite_looks_into_blocks_of_every_size(tmp_path: Path, size: int) -> None:
    """Text of a dropped table is looked for, however large the blocks of the file are."""
    path, rows = tmp_path / "old.duckdb", 50_000
    with duckdb.connect() as connection:
        connection.execute(f"attach '{path}' as old (block_size {size})")
        for name in ("before", "raw", "behind"):
            made = (
                f"select '{name} number ' || i || md5(i || '{name}') as who from range({rows}) t(i)"
            )
            connection.execute(f"create table old.{name} as {made}")
            connection.execute("checkpoint old")
        connection.execute("drop table old.raw")
    assert rewrite(path).pieces > 1000
    assert b"raw number" not in path.read_bytes()


@pytest.mark.slow
def test_leaks_rewrite_finds_old_text(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scan itself can fail: a copy that takes the old bytes along is refused."""
    anonymizer.run(replacing(tmp_path), source, replace_source=True)

    def all_of_it(path: Path, aside: Path, *_: object) -> tuple[int, Blocks, Blocks]:
        aside.write_bytes(path.read_bytes())
        return 1, Blocks(SIZE, frozenset()), Blocks(SIZE, frozenset(range(1000)))

    monkeypatch.setattr("anonymizer.publish.rewrite._copy", all_of_it)
    with pytest.raises(GuaranteeError, match="unused space"):
        rewrite(source)


@pytest.mark.slow
def test_leaks_replace_on_the_command_line(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "policy.yml"
    written.write_text(
        "version: 1\nsource: {table: visits}\nkey: id\ncolumns:\n"
        "  id: {role: identifier}\n  age: {role: quasi}\n  note: {role: drop}\n"
        "  disease: {role: sensitive}\nprivacy: {k_anonymity: 3}\n"
        "publish: {replace_source: true}\n"
    )
    command = ["run", str(written), "--database", str(source), "--quiet"]
    for arguments, code in ((command, 2), ([*command, "--yes-replace-source"], 0)):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == code
    absent = tmp_path / "absent.txt"
    absent.write_text("patient-\nMüller\n")
    with pytest.raises(SystemExit) as ended:
        main(["clean", "--rewrite", "--database", str(source), "--absent", str(absent)])
    assert ended.value.code == 0
    assert "rewrote source.duckdb" in capsys.readouterr().out
    assert columns_of(source) == ["class_id", "age", "disease"]


def test_leaks_replace_a_source_that_changes(tmp_path: Path, source: Path) -> None:
    """A row that comes while the run is at work would be lost: the run is refused."""
    changed = False

    def change(event: Any) -> None:
        nonlocal changed
        if event.step.name == "write the release" and not changed:
            changed = True
            with connection.cursor() as other:
                other.execute("insert into visits values ('late', 1, 'x', 'y')").fetchall()

    with duckdb.connect(str(source)) as connection:
        with pytest.raises(SourceError, match="1 row changed"):
            anonymizer.run(replacing(tmp_path), connection, replace_source=True, listener=change)
        assert changed
        count = connection.execute("select count(*), count(note) from visits").fetchall()
        assert count == [(ROWS + 1, ROWS + 1)]
        release = anonymizer.run(replacing(tmp_path), connection, replace_source=True)
        assert len(release.df()) == ROWS + 1


@pytest.mark.parametrize("kind", ["view", "foreign key", "manifest", "Manifest"])
def test_leaks_replace_what_cannot_be_replaced(tmp_path: Path, source: Path, kind: str) -> None:
    changes: dict[str, Any] = {}
    with duckdb.connect(str(source)) as connection:
        if kind == "view":
            connection.execute("create view looked as from visits").fetchall()
            changes = {"source": {"table": "looked"}}
        elif kind == "foreign key":
            connection.execute("create or replace table keyed (id varchar primary key)").fetchall()
            connection.execute("insert into keyed select id from visits").fetchall()
            connection.execute("alter table keyed add column age integer").fetchall()
            connection.execute("create table child (id varchar references keyed (id))").fetchall()
            columns = {"id": {"role": "identifier"}, "age": {"role": "quasi"}}
            changes = {"source": {"table": "keyed"}, "columns": columns}
        else:
            connection.execute(f"create table visits_{kind} as select 1 as mine").fetchall()
    with pytest.raises(TargetError) as raised:
        anonymizer.run(replacing(tmp_path, **changes), source, replace_source=True)
    assert raised.value.problems[0].path == "publish.replace_source"
    assert "id" in columns_of(source)


@pytest.mark.slow
def test_leaks_replace_with_an_uncommitted_failure(tmp_path: Path, source: Path) -> None:
    """A failure of the last statement leaves the table as it was."""
    from anonymizer.engines.duckdb.connection import DuckDBEngine

    real = DuckDBEngine.raw

    def fail(self: DuckDBEngine, text: str, where: str, values: Any = None) -> Any:
        if text == "commit":
            raise TargetError([])
        return real(self, text, where, values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDBEngine, "raw", fail)
        with pytest.raises(TargetError):
            anonymizer.run(replacing(tmp_path), source, replace_source=True)
    assert "id" in columns_of(source)
    anonymizer.run(replacing(tmp_path), source, replace_source=True)
    assert "id" not in columns_of(source)
