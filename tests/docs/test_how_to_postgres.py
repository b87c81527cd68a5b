"""The page on Postgres does what it shows, and its roles need what it grants them, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.engines.postgres.workplace import clean_database
from anonymizer.errors import AnonymizerError
from anonymizer.run import verbs
from tests.backends.conftest import postgres
from tests.backends.tables import query
from tests.docs.blocks import ROOT, blocks, follow

__all__ = ["postgres"]

pytestmark = pytest.mark.postgres

PAGE = ROOT / "docs" / "how-to" / "postgres.md"
ROLES = "anonymizer_runner, release_readers, visits_owner, analyst"
EVERYBODY = {  # what Postgres lets every role do, which would hide a missing grant
    "connect, temporary": "database people",
    "usage": "schema public",
}
RIGHTS = {
    ("connect", "database clinic"): "grant connect on database",
    ("temporary", "database clinic"): "grant temporary on database",
    ("usage", "schema public"): "permission denied for schema public",
    ("select", "public.visits"): "permission denied for table visits",
    ("usage", "schema releases"): 'grant usage on schema "releases" to anonymizer_runner',
    ("create", "schema releases"): 'grant create on schema "releases" to anonymizer_runner',
}
"""Every right that the page grants the runner, and the refusal of a run without it."""
REPLACING = {
    "revoke visits_owner from anonymizer_runner": "the table's owner, visits_owner",
    "revoke create on schema public from visits_owner": 'schema "public" to "visits_owner"',
}


@pytest.fixture
def address(postgres: str) -> Iterator[str]:
    for block in blocks(PAGE):
        if block.language == "sql":
            code = block.code.replace("database clinic", "database people")
            for statement in filter(str.strip, code.split(";\n")):
                query(postgres, statement)
    for rights, place in EVERYBODY.items():
        query(postgres, f"revoke {rights} on {place} from public")
    yield postgres
    for rights, place in EVERYBODY.items():
        query(postgres, f"grant {rights} on {place} to public")
    query(postgres, "drop schema if exists published, _anonymizer, releases cascade")
    query(postgres, "drop table visits")
    query(postgres, f"drop owned by {ROLES}")
    query(postgres, f"drop role {ROLES}")


def as_runner(address: str) -> str:
    return address.replace("postgres@", "anonymizer_runner@")


def release(**publish: object) -> Policy:
    (code,) = (block.code for block in blocks(PAGE) if block.file == "release.yml")
    given = Policy.loads(code).model_dump(by_alias=True, exclude_unset=True)
    return Policy.model_validate({**given, "publish": publish or given["publish"]})


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        raise AssertionError("the source was read")

    monkeypatch.setattr(verbs, "read_tables", read)


def test_the_page_works(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    text = PAGE.read_text().replace("$RUNNER", as_runner(address))
    page.write_text(re.sub(r"\$DATABASE", address, text), encoding="utf-8")
    monkeypatch.setenv("DATABASE", address)
    folder = tmp_path / "work"
    folder.mkdir()
    printed = follow(page, folder)
    assert "published published.visits_anonymous" in printed[0]
    assert "k_anonymity" in printed[1]
    assert "classes" in printed[2]
    assert "published releases.visits_anonymous" in printed[4]
    assert "k_anonymity" in printed[5]
    listing = (folder / "visits.sql").read_text()
    assert "-- loop: " in listing
    assert 'CREATE UNLOGGED TABLE "anonymizer_work"' in listing
    assert "k_anonymity" in printed[-1]
    for schema, role in (("published", "analyst"), ("releases", "release_readers")):
        rows = query(address, f"select count(*) from {schema}.visits_anonymous", role)
        assert rows == [(2000,)]


def test_the_runner_can_run_again_verify_and_clean(address: str) -> None:
    query(address, "revoke visits_owner from anonymizer_runner")
    runner = as_runner(address)
    assert anonymizer.plan(release(), runner).stages
    for seed in (1, 2):
        assert anonymizer.run(release(), runner, seed=seed).verification.passed
    assert anonymizer.verify(release(), runner).passed
    assert clean_database(runner) == ()
    for table in ("public.visits", 'releases."_anonymizer_objects"'):
        with pytest.raises(Exception, match="permission denied"):
            query(address, f"select * from {table}", "release_readers")


def test_the_rights_are_those_of_the_page() -> None:
    text = "".join(block.code for block in blocks(PAGE) if block.language == "sql")
    granted = re.findall(r"grant ([a-z, ]+) on (.+) to anonymizer_runner;", text)
    assert [(right, on) for rights, on in granted for right in rights.split(", ")] == [*RIGHTS]


@pytest.mark.parametrize(("right", "place"), RIGHTS)
def test_a_right_that_the_runner_lacks_is_named_before_anything_is_read(
    address: str, unread: None, right: str, place: str
) -> None:
    query(address, "revoke visits_owner from anonymizer_runner")
    on = place.replace("clinic", "people")
    query(address, f"revoke {right} on {on} from anonymizer_runner")
    with pytest.raises(AnonymizerError) as caught:
        anonymizer.run(release(), as_runner(address))
    assert RIGHTS[right, place] in str(caught.value)


def test_a_right_that_the_readers_lack_is_named_too(address: str, unread: None) -> None:
    query(address, "revoke usage on schema releases from release_readers")
    with pytest.raises(AnonymizerError, match=r'grant usage on schema .* to "release_readers"'):
        anonymizer.run(release(), as_runner(address))


def test_the_runner_can_replace_a_table_of_a_role_of_which_it_is_a_member(address: str) -> None:
    given, runner = release(replace_source=True), as_runner(address)
    assert anonymizer.run(given, runner, replace_source=True).verification.passed
    assert anonymizer.verify(given, runner).passed
    owner = "select relowner::regrole::text from pg_class where oid = 'public.visits'::regclass"
    assert query(address, owner) == [("visits_owner",)]
    query(address, "drop table public.visits_manifest")


@pytest.mark.parametrize("statement", REPLACING)
def test_a_right_to_replace_that_is_missing(address: str, unread: None, statement: str) -> None:
    query(address, statement)
    with pytest.raises(AnonymizerError) as caught:
        anonymizer.run(release(replace_source=True), as_runner(address), replace_source=True)
    assert REPLACING[statement] in str(caught.value)
