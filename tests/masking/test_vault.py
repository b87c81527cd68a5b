"""Vaults: the way back from tokens, private, beside the release."""

import stat
from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.errors import EngineError
from anonymizer.source.masking.masks import new_secret

POLICY = """
version: 1
source: {table: people}
columns:
  mail: {role: token, key_file: tokens.key, vault: vault.duckdb}
  phone: {role: token, vault: vault.duckdb}
  age: {role: quasi}
privacy: {k_anonymity: 5}
publish: {database: release.duckdb}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a source and a key."""
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute(
            "create table people as select 'm' || i || '@x.org' as mail,"
            " '+44 20 ' || (70000000 + i)"
            " as phone, i % 9 as age from range(100) r(i)"
        )
    new_secret(tmp_path / "tokens.key")
    return tmp_path


def run(folder: Path, policy: str = POLICY) -> anonymizer.Release:
    loaded = anonymizer.Policy.loads(policy, folder)
    return anonymizer.run(loaded, folder / "source.duckdb")


def test_every_token_has_its_value(folder: Path) -> None:
    release = run(folder)
    with duckdb.connect(str(folder / "vault.duckdb")) as vault:
        held = vault.execute("select name, value, token from tokens").fetchall()
    assert len(held) == 200
    back = {(name, token): value for name, value, token in held}
    assert {back["mail", mail] for mail in release.df()["mail"]} == {
        f"m{i}@x.org" for i in range(100)
    }
    assert stat.S_IMODE((folder / "vault.duckdb").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "what"), [("source.duckdb", "the source"), ("release.duckdb", "the release")]
)
def test_a_file_with_another_purpose_is_refused(folder: Path, name: str, what: str) -> None:
    with pytest.raises(EngineError, match=f"columns.mail.vault: is the file of {what}"):
        run(folder, POLICY.replace("vault.duckdb", name))


def test_a_vault_that_others_can_read_is_refused(folder: Path) -> None:
    run(folder)
    (folder / "vault.duckdb").chmod(0o644)
    with pytest.raises(EngineError, match="can be read by others"):
        run(folder)
