"""The page on Postgres does what it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.conftest import postgres
from tests.backends.tables import query
from tests.docs.blocks import ROOT, blocks, follow

__all__ = ["postgres"]

pytestmark = pytest.mark.postgres

PAGE = ROOT / "docs" / "how-to" / "postgres.md"


@pytest.fixture
def address(postgres: str) -> Iterator[str]:
    for block in blocks(PAGE):
        if block.language == "sql":
            for statement in filter(str.strip, block.code.split(";\n")):
                query(postgres, statement)
    yield postgres
    query(postgres, "drop schema published cascade")
    query(postgres, "drop schema _anonymizer cascade")
    query(postgres, "drop table visits")
    query(postgres, "drop role analyst")


def test_the_page_works(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(re.sub(r"\$DATABASE", address, PAGE.read_text()), encoding="utf-8")
    monkeypatch.setenv("DATABASE", address)
    folder = tmp_path / "work"
    folder.mkdir()
    printed = follow(page, folder)
    assert "published published.visits_anonymous" in printed[0]
    assert "k_anonymity" in printed[1]
    assert "classes" in printed[2]
    listing = (folder / "visits.sql").read_text()
    assert "-- loop: " in listing
    assert 'CREATE UNLOGGED TABLE "anonymizer_work"' in listing
    assert "k_anonymity" in printed[-1]
    rows = query(address, "select count(*) from published.visits_anonymous", "analyst")
    assert rows == [(2000,)]
