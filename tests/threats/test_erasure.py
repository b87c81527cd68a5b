"""A person who asks to be erased is found in releases, and then in no ledger."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main
from anonymizer.errors import NothingToCheckError
from anonymizer.ledger.erasure import erase_person, releases_of
from anonymizer.ledger.session import listed
from tests.threats.population import Population, digests, observed, policy
from tests.threats.test_ledger_follow import COLUMNS

LEDGER = "private.duckdb"


def released(folder: Path, population: Population, times: int = 1) -> None:
    chosen = policy(folder, columns=COLUMNS, republish={"follow": True}, suppression_limit=0.9)
    for _ in range(times):
        population.write(folder / "source.duckdb")
        anonymizer.run(chosen, folder / "source.duckdb")


def test_nothing_of_a_person_is_left_in_the_ledger(tmp_path: Path) -> None:
    """Bytes are searched: a database keeps what it overwrites."""
    population = Population(seed=3, size=90)
    released(tmp_path, population, times=2)
    found = digests(tmp_path, population.people)
    (digest,) = (digest for digest, one in found.items() if one == 17)
    low = (digest & (2**64 - 1)).to_bytes(8, "little")
    assert low in (tmp_path / LEDGER).read_bytes()
    assert [entry.release for entry in releases_of(tmp_path / LEDGER, "17")] == [1, 2]
    before = observed(tmp_path, population.people)
    erased = erase_person(tmp_path / LEDGER, "17")
    assert (len(erased.releases), erased.rows) == (2, 2)
    assert low not in (tmp_path / LEDGER).read_bytes()
    assert releases_of(tmp_path / LEDGER, "17") == ()
    after = observed(tmp_path, population.people)
    assert {*before} - {*after} == {17}
    inode = (tmp_path / LEDGER).stat().st_ino
    with pytest.raises(NothingToCheckError, match="is in no release"):
        erase_person(tmp_path / LEDGER, "17")
    # after a run that was killed before its last step, the bytes would go now
    assert (tmp_path / LEDGER).stat().st_ino != inode
    assert (tmp_path / LEDGER).stat().st_mode & 0o777 == 0o600


def test_as_many_values_are_needed_as_columns_name_a_person(tmp_path: Path) -> None:
    released(tmp_path, Population(seed=3, size=90))
    for asked in (releases_of, erase_person):
        with pytest.raises(NothingToCheckError, match=r"has 2 values \(hint: the text of id\)"):
            asked(tmp_path / LEDGER, "17", "18")


def test_the_class_of_who_was_erased_still_goes_with_them(tmp_path: Path) -> None:
    """A ledger that forgot them would take their class for whole, and the next release show it."""
    population = Population(seed=3, size=90)
    released(tmp_path, population)
    first = observed(tmp_path, population.people)
    erase_person(tmp_path / LEDGER, "17")
    del population.people[17]
    released(tmp_path, population)
    with_them = {one for one in first if first[one][0] == first[17][0]}
    assert {*first} - {*observed(tmp_path, population.people)} == with_them
    assert len(listed(tmp_path / LEDGER)) == 2


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    population = Population(seed=3, size=90)
    released(tmp_path, population)
    ledger = str(tmp_path / LEDGER)

    def said(verb: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["ledger", verb, ledger, "17"])
        assert ended.value.code == code
        return capsys.readouterr().out

    assert "main.released" in said("who")
    assert "1 release still holds them" in said("erase")
    assert "in no release" in said("who")
    said("erase", 2)


def test_nothing_of_a_person_is_left_in_a_vault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    population = Population(seed=3, size=90)
    vault = tmp_path / "vault.duckdb"
    columns = {**COLUMNS, "id": {"role": "token", "vault": "vault.duckdb"}}
    chosen = policy(tmp_path, columns=columns, suppression_limit=0.9)
    # (keys that no other bytes of the file are)
    population.people = {one + 7_310_000: of for one, of in population.people.items()}
    population.write(tmp_path / "source.duckdb")
    anonymizer.run(chosen, tmp_path / "source.duckdb")
    with duckdb.connect(str(vault), read_only=True) as connection:
        ((token,),) = connection.execute(
            "select token from tokens where value = '7310017'"
        ).fetchall()
    assert token.encode() in vault.read_bytes()
    with pytest.raises(SystemExit) as ended:
        main(["ledger", "erase", str(tmp_path / LEDGER), "7310017", "--vault", str(vault)])
    assert ended.value.code == 0
    assert "erased 1 token of 1 vault" in capsys.readouterr().out
    left = vault.read_bytes()
    assert token.encode() not in left
    assert b"7310017" not in left
    assert vault.stat().st_mode & 0o777 == 0o600
    with duckdb.connect(str(vault), read_only=True) as connection:
        assert connection.execute("select count(*) from tokens").fetchall() == [(89,)]
