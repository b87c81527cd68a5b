"""Every case of the frozen corpus that Postgres has: its statements run on the server."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from anonymizer import Policy
from anonymizer.engines.registry import refuse
from anonymizer.errors import AnonymizerError, PolicyError
from tests.backends.tables import load, on_duckdb, on_postgres, same_release
from tests.duckdb.dialects import LOWERED
from tests.frozen import corpus
from tests.selection import some

pytestmark = pytest.mark.postgres

CASES = {
    name: given
    for file in ("algorithms", "more")
    for name, given in corpus.cases(file).items()
    if given.get("source", {}).get("table", "people") == "people" and "replace" not in given
}


def beside(folder: Path, name: str) -> Policy:
    """The policy of a case, with the release beside the source."""
    given = CASES[name]
    publish = {**given.get("publish", {}), "database": None, "name": "released"}
    made = corpus.loaded({**given, "publish": publish}, folder)
    assert isinstance(made, Policy)
    return made


@some(4)
@pytest.mark.parametrize("name", CASES)
def test_the_release_is_that_of_duckdb(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for limit in LOWERED.get(name, []):
        monkeypatch.setattr(*limit)
    source = corpus.prepare(tmp_path, corpus.make_template(tmp_path / "template.duckdb"))
    given = beside(tmp_path, name)
    try:
        refuse(given, "postgres")
    except PolicyError:
        return
    with duckdb.connect(str(source), config={"threads": 1}) as connection:
        types = {row[0]: row[1] for row in connection.execute("describe people").fetchall()}
        load(postgres, types, connection.execute("from people").fetchall(), "people")
        try:
            expected = on_duckdb(given, connection)
        except AnonymizerError as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                on_postgres(given, postgres)
        else:
            same_release(on_postgres(given, postgres), postgres, expected)
