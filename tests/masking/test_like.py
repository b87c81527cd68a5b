"""Tokens like their values: one to one, of the same form, and no value of the column."""

import re
from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.errors import GuaranteeError
from tests.selection import some

POLICY = """
version: 1
source: {table: people}
columns:
  code: {role: token, format: like}
  age: {role: quasi}
privacy: {k_anonymity: 2}
publish: {database: release.duckdb}
"""


def source(folder: Path, values: str) -> set[str]:
    with duckdb.connect(str(folder / "source.duckdb")) as connection:
        connection.execute(f"create or replace table people as {values}")
        return {code for (code,) in connection.execute("select code from people").fetchall()}


def tokens(folder: Path, policy: str = POLICY) -> list[str]:
    loaded = anonymizer.Policy.loads(policy, folder)
    release = anonymizer.run(loaded, folder / "source.duckdb", seed=11)
    return [str(code) for code in release.df()["code"]]


def form(text: str) -> str:
    return re.sub("[a-z]", "a", re.sub("[A-Z]", "A", re.sub("[0-9]", "0", text)))


THOUSAND = "select 'P' || lpad(i::varchar, 4, '0') as code, i // 2 as age from range(1000) r(i)"
DENSE = "select lpad(i::varchar, 2, '0') as code, i // 2 as age from range(100) r(i)"
MIXED = """select case i % 5 when 0 then 'ab-' || i when 1 then 'X' || i || 'y' || (i * 77)
    when 2 then '(0' || (100 + i) || ') ' || (5550000 + i) when 3 then i || '@' || i || '.org'
    else repeat('longer ', 1 + i % 40) || i end as code, i // 2 as age from range(600) r(i)"""


@some(1)
@pytest.mark.parametrize("made", [THOUSAND, MIXED])
def test_tokens_are_others_of_the_same_form(tmp_path: Path, made: str) -> None:
    """Of 10,000 codes of a form 1,000 are taken: many a first token is one of them."""
    values = source(tmp_path, made)
    found = tokens(tmp_path)
    assert len(set(found)) == len(values)
    assert not values & set(found)
    assert sorted(map(form, found)) == sorted(map(form, values))


@pytest.mark.slow
def test_where_there_is_no_room_the_run_refuses(tmp_path: Path) -> None:
    source(tmp_path, DENSE)
    with pytest.raises(GuaranteeError, match=r"source_mask_foreign.*format: hex, uuid or number"):
        tokens(tmp_path)
    assert not (tmp_path / "release.duckdb").exists()


TWO = """
version: 1
source: {table: people}
columns:
  code: {role: token, format: like}
  sent: {role: token, format: like}
  age: {role: quasi}
privacy: {k_anonymity: 2}
publish: {database: release.duckdb}
"""
LINKED = """select lpad((i * 7 % 1000)::varchar, 4, '0') as code, i // 2 as age,
    lpad((i * 13 % 700 + 500)::varchar, 4, '0') as sent from range(1000) r(i)"""


@pytest.mark.slow
def test_columns_under_one_key_share_their_tokens(tmp_path: Path) -> None:
    """Equal values have equal tokens, and no token is that of two values, over both columns."""
    source(tmp_path, LINKED)
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        rows = connection.execute("select code, sent from people").fetchall()
    values = {value for row in rows for value in row}
    shared = {code for code, _ in rows} & {sent for _, sent in rows}
    loaded = anonymizer.Policy.loads(TWO, tmp_path)
    release = anonymizer.run(loaded, tmp_path / "source.duckdb", seed=11).df()
    codes, sent = set(release["code"]), set(release["sent"])
    assert len(codes | sent) == len(values)
    assert len(codes & sent) == len(shared) > 0
    assert not values & (codes | sent)


@some(1)
@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE", "DECIMAL(3,3)", "TIMESTAMPTZ"])
def test_tokens_have_the_form_of_the_text_that_they_stand_for(tmp_path: Path, kind: str) -> None:
    """Also where the database writes a value in another way than it is hashed."""
    made = {
        "FLOAT": "(i / 7)::float",
        "DOUBLE": "case when i < 20 then '-0.0'::double else 1234567 + i / 7 end",
        "DECIMAL(3,3)": "(0.1 + i / 1000)::decimal(3, 3)",
        "TIMESTAMPTZ": "case when i < 20 then 'infinity'::timestamptz"
        " else timestamptz '2024-01-01 00:00:00+00' + to_seconds(i * 7777) end",
    }[kind]
    source(tmp_path, f"select {made} as code, i // 2 as age from range(60) r(i)")
    try:
        assert len(tokens(tmp_path)) == 60
    except GuaranteeError as error:  # (few digits: a token may be a value, which is told)
        assert "source_mask_like" not in str(error)  # noqa: PT017
