"""Every setting of the golden files that Postgres has: its statements run on the server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anonymizer import Policy
from anonymizer.engines.registry import refuse
from anonymizer.errors import AnonymizerError, PolicyError
from tests.backends.tables import embedded, load, on_duckdb, on_postgres, same_release
from tests.duckdb.golden_outlined import CHANGED, OUTLINED
from tests.duckdb.golden_settings import ROWS, TYPES, WHOLE
from tests.runs import policy
from tests.selection import some

pytestmark = pytest.mark.postgres


def on_server(name: str) -> bool:
    """Whether Postgres has all of a setting. (What a ledger remembers has tests of its own.)"""
    try:
        refuse(beside(Path(), name), "postgres")
    except PolicyError:
        return False
    return "ledger" not in (WHOLE | OUTLINED)[name]


def beside(folder: Path, name: str) -> Policy:
    """The policy of a setting, with the release beside the source."""
    setting = (WHOLE | OUTLINED)[name]
    publish = {**setting.get("publish", {}), "database": None, "name": "released"}
    return policy(folder, **{**setting, "publish": publish})


@some(4)
@pytest.mark.parametrize("name", [*filter(on_server, WHOLE | OUTLINED)])
def test_the_release_is_that_of_duckdb(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "wards.csv").write_text("A;*\nB;*\n")
    (tmp_path / "born.csv").write_text("2000-01-01;winter;*\n2000-03-07;spring;*\n")
    for limit in CHANGED.get(name, []):
        monkeypatch.setattr(*limit)
    given = beside(tmp_path, name)
    load(postgres, TYPES, ROWS, "people")
    with embedded(TYPES, ROWS, "people") as connection:
        try:
            expected = on_duckdb(given, connection)
        except AnonymizerError as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                on_postgres(given, postgres)
        else:
            same_release(on_postgres(given, postgres), postgres, expected)
