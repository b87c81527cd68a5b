"""An encrypted source: its key, and what is written of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.cli import main
from anonymizer.engines.duckdb.encryption import BUNDLED, KEY, KEY_FILE, WAY_OUT, is_encrypted
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.errors import EncryptionError, EngineError, PolicyError, TargetError
from anonymizer.independent import judge
from anonymizer.independent.fetch import UnreadableError
from anonymizer.ledger.erasure import erase_person, releases_of
from tests.runs import THRIFTY

SECRET = "open sesame '1234'"
MARKER = b"MARKER-"
POLICY: dict[str, Any] = {
    "version": 1,
    "source": {"table": "t"},
    "key": "id",
    "columns": {
        "id": {"role": "identifier"},
        "name": {"role": "identifier"},
        "age": {"role": "quasi"},
        "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    },
    "privacy": {"k_anonymity": 5},
    "publish": {"name": "a", "database": "r.duckdb"},
}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An encrypted database with a table and a view; neither a key nor a cipher is given."""
    for name in (KEY, KEY_FILE, BUNDLED):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as con:
        con.execute("set force_mbedtls_unsafe = 'true'")
        con.execute("attach 'e.duckdb' as e (encryption_key $key)", {"key": SECRET})
        con.execute(
            "create table e.t as select i as id, 20 + i % 10 as age,"
            " 'MARKER-' || i % 3 as ill, 'MARKER-' || md5(i::varchar) as name from range(90) t(i)"
        )
        con.execute("create view e.v as select * from e.t")
    return tmp_path / "e.duckdb"


def policy(folder: Path, **changes: Any) -> Policy:
    return Policy.loads(json.dumps({**POLICY, **changes}), folder)


def give_key(monkeypatch: pytest.MonkeyPatch, *, cipher: bool = True, key: str = SECRET) -> None:
    monkeypatch.setenv(KEY, key)
    if cipher:
        monkeypatch.setenv(BUNDLED, "1")


def publish(**options: Any) -> dict[str, Any]:
    return {**POLICY["publish"], **options}


def test_without_its_key_a_source_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EncryptionError, match=r"e\.duckdb is encrypted, and no key is given"):
        anonymizer.run(policy(tmp_path), source)
    give_key(monkeypatch, key="another key")
    with pytest.raises(EncryptionError, match="not opened by the key") as caught:
        anonymizer.run(policy(tmp_path), source)
    assert "another key" not in str(caught.value)
    assert not (tmp_path / "r.duckdb").exists()


def test_a_file_has_the_key(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """And none of the commands says it, whatever they fail at."""
    file = tmp_path / "key"
    monkeypatch.setenv(KEY_FILE, str(file))
    for mode, said in ((None, "is no text file"), (0o644, "can be read by"), (0o600, "is empty")):
        if mode is not None:
            file.touch()
            file.chmod(mode)
        with pytest.raises(EncryptionError, match=said):
            anonymizer.run(policy(tmp_path), source)
    file.write_text(SECRET + "\n")
    monkeypatch.setenv(BUNDLED, "1")
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    for arguments in (
        ("plan", "policy.json", "--database", "e.duckdb"),
        ("run", "policy.json", "--database", "e.duckdb", "--debug"),
        ("verify", "policy.json", "--database", "r.duckdb"),
        ("verify", "policy.json", "--database", "r.duckdb", "--independent"),
        ("attack", "policy.json", "--database", "e.duckdb"),
        ("report", "policy.json", "--source", "e.duckdb", "-o", "r.html"),
        ("assess", "t", "--database", "e.duckdb"),
        ("init", "t", "--database", "e.duckdb", "-o", "p.yml"),
        ("compile", "policy.json", "--database", "e.duckdb", "-o", "c.sql"),
    ):
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        out = capsys.readouterr()
        assert ended.value.code == 0, (arguments, out)
        assert SECRET not in out.out + out.err
    for made in tmp_path.iterdir():
        assert made == file or SECRET.encode() not in made.read_bytes()


def test_what_is_written_of_it_is_encrypted(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_key(monkeypatch)
    columns = {
        **POLICY["columns"],
        "name": {"role": "token", "vault": "vault.duckdb"},
    }
    chosen = policy(tmp_path, columns=columns, ledger="ledger.duckdb", kind="pseudonymised")
    release = anonymizer.run(chosen, source)
    assert not [one for one in release.warnings if "encrypted" in one]
    for name in ("r.duckdb", "vault.duckdb", "ledger.duckdb"):
        assert is_encrypted(tmp_path / name), name
        assert MARKER not in (tmp_path / name).read_bytes()
    assert anonymizer.verify(chosen, tmp_path / "r.duckdb").passed
    assert judge(tmp_path / "r.duckdb").passed
    assert len(releases_of(tmp_path / "ledger.duckdb", "17")) == 1
    erase_person(tmp_path / "ledger.duckdb", "17")
    assert is_encrypted(tmp_path / "ledger.duckdb")
    monkeypatch.delenv(KEY)
    for read in (
        lambda: anonymizer.verify(chosen, tmp_path / "r.duckdb"),
        lambda: releases_of(tmp_path / "ledger.duckdb", "17"),
    ):
        with pytest.raises(EncryptionError, match="no key is given"):
            read()
    with pytest.raises(UnreadableError, match="is encrypted"):
        judge(tmp_path / "r.duckdb")


def test_a_release_that_cannot_be_encrypted_is_a_warning(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_key(monkeypatch, cipher=False)
    release = anonymizer.run(policy(tmp_path), source)
    (said,) = [one for one in release.warnings if "not encrypted" in one]
    assert WAY_OUT in said
    assert not is_encrypted(tmp_path / "r.duckdb")
    again = anonymizer.run(policy(tmp_path, publish=publish(encrypted=False)), source)
    assert not [one for one in again.warnings if "not encrypted" in one]
    for wanted in ({"publish": publish(encrypted=True)}, {"ledger": "ledger.duckdb"}):
        with pytest.raises(EncryptionError, match="cannot write encrypted files here"):
            anonymizer.run(policy(tmp_path, **wanted), source)
    assert not (tmp_path / "ledger.duckdb").exists()
    in_place = {"name": "a"}
    with pytest.raises(TargetError, match="cannot write the encrypted file of the source"):
        anonymizer.run(policy(tmp_path, publish=in_place), source)


def test_a_release_is_encrypted_as_the_policy_says(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain.duckdb"
    with duckdb.connect(str(plain)) as con:
        con.execute(
            "create table t as select i as id, 20 + i % 10 as age,"
            " 'MARKER-' || i % 3 as ill, md5(i::varchar) as name from range(90) t(i)"
        )
    wanted = policy(tmp_path, publish=publish(encrypted=True))
    with pytest.raises(EncryptionError, match="no key is given"):
        anonymizer.run(wanted, plain)
    give_key(monkeypatch)
    anonymizer.run(wanted, plain)
    assert is_encrypted(tmp_path / "r.duckdb")
    anonymizer.run(policy(tmp_path), plain)  # as the one that it replaces
    assert is_encrypted(tmp_path / "r.duckdb")
    anonymizer.run(policy(tmp_path, publish=publish(encrypted=False)), source)
    assert not is_encrypted(tmp_path / "r.duckdb")
    for options, path in (
        ({"name": "a", "encrypted": True}, "publish.encrypted"),
        (publish(encrypted=True, storage="v1.2.0"), "publish.storage"),
    ):
        with pytest.raises(PolicyError) as caught:
            policy(tmp_path, publish=options)
        assert [one.path for one in caught.value.problems] == [path]


def test_files_of_a_run_are_encrypted(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_key(monkeypatch)
    with own_connection(source, limits=THRIFTY) as engine:
        assert engine.parts is not None
        engine.parts.mkdir()
        part = engine.parts / "part.duckdb"
        engine.attach(part, "part", "read_write", "parts")
        assert is_encrypted(part)
        assert engine.raw("select current_setting('temp_file_encryption')", "parts") == [(True,)]
    monkeypatch.delenv(BUNDLED)
    with own_connection(source, limits=THRIFTY) as engine:
        assert engine.parts is not None
        engine.parts.mkdir()
        with pytest.raises(EncryptionError, match="cannot write encrypted files"):
            engine.attach(engine.parts / "part.duckdb", "part", "read_write", "parts")
        assert engine.raw("select current_setting('temp_directory')", "parts") == [("",)]


def test_views_and_releases_in_the_same_file(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_key(monkeypatch)
    in_place = policy(tmp_path, source={"table": "v"}, publish={"name": "a"})
    assert anonymizer.run(in_place, source).verification.passed
    assert MARKER not in source.read_bytes()
    assert anonymizer.verify(in_place, source).passed


def test_a_connection_that_has_it_attached(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = policy(tmp_path, source={"table": "e.main.t"})
    with duckdb.connect() as con:
        con.execute("attach 'e.duckdb' as e (encryption_key $key, read_only)", {"key": SECRET})
        release = anonymizer.run(chosen, con)
        (said,) = [one for one in release.warnings if "not encrypted" in one]
        assert KEY_FILE in said
        with pytest.raises(EncryptionError, match="no key is given"):
            anonymizer.run(policy(tmp_path, **{**chosen.to_dict(), "ledger": "l.duckdb"}), con)
        monkeypatch.setenv(KEY, SECRET)
        con.execute("set force_mbedtls_unsafe = 'true'")
        again = anonymizer.run(chosen, con)
        assert not [one for one in again.warnings if "not encrypted" in one]
        assert is_encrypted(tmp_path / "r.duckdb")
        assert con.execute("select count(*) from duckdb_databases() where database_name like"
                           " 'anon%'").fetchall() == [(0,)]  # fmt: skip


def test_a_connection_that_may_write_it_publishes_in_it(source: Path, tmp_path: Path) -> None:
    """The user's own key and cipher are enough where nothing else is written."""
    chosen = policy(tmp_path, publish={"name": "a"})
    with duckdb.connect() as con:
        con.execute("set force_mbedtls_unsafe = 'true'")
        con.execute("attach 'e.duckdb' as e (encryption_key $key)", {"key": SECRET})
        con.execute("use e")
        assert anonymizer.run(chosen, con).verification.passed
        assert con.execute("select count(*) from e.main.a").fetchall() == [(90,)]
    assert MARKER not in source.read_bytes()


def test_a_plain_vault_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_key(monkeypatch)
    with duckdb.connect(str(tmp_path / "vault.duckdb")) as con:
        con.execute("create table tokens (name varchar, value varchar, token varchar)")
    (tmp_path / "vault.duckdb").chmod(0o600)
    columns = {**POLICY["columns"], "name": {"role": "token", "vault": "vault.duckdb"}}
    with pytest.raises(EngineError, match="is not encrypted, and the source is"):
        anonymizer.run(policy(tmp_path, columns=columns, kind="pseudonymised"), source)
