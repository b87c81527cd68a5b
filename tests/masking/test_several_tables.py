"""Masks over several tables: one shift and one token per person, in all of them."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import PolicyError

POLICY = """
version: 1
person: persons
tables:
  persons:
    source: {table: persons}
    key: id
    columns:
      id: {role: key}
      age: {role: quasi, top_code: 80}
      sex: {role: quasi}
      born: {role: shift, within: 60 days}
      mail: {role: token, format: uuid}
  visits:
    source: {table: visits}
    key: vid
    links: {pid: persons}
    columns:
      vid: {role: key}
      pid: {role: key}
      day: {role: shift, within: 60 days}
      ward: {role: event}
      cost: {role: noise, share: 0.1}
      mail: {role: token, format: uuid}
  labs:
    source: {table: labs}
    links: {vid: visits}
    columns:
      lid: {role: keep, acknowledge_unique: true}
      vid: {role: key}
      taken: {role: shift, within: 60 days}
      value: {role: top_code, at_least: 5}
privacy: {k_anonymity: 5, knows: {events: 1}}
"""
TABLES = (
    "create table persons as select i as id, 20 + (i * 7919) % 70 as age, i % 2 as sex,"
    " date '1950-01-01' + cast(i * 37 % 9000 as int) as born, 'm' || i || '@x.org' as mail"
    " from range(300) r(i)",
    "create table visits as select i as vid, (i * 31) % 300 as pid, i % 5 as ward, i * 2.5 as cost,"
    " date '2020-01-01' + cast(i % 400 as int) as day, 'm' || ((i * 31) % 300) || '@x.org' as mail"
    " from range(1000) r(i)",
    "create table labs as select i as lid, (i * 17) % 1000 as vid, i % 50 as value,"
    " timestamp '2020-01-01 05:00:00' + to_hours(i::bigint) as taken from range(2000) r(i)",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source and a release of it."""
    folder = tmp_path_factory.mktemp("masked")
    source, release = folder / "clinic.duckdb", folder / "release.duckdb"
    with duckdb.connect(str(source)) as connection:
        for statement in TABLES:
            connection.execute(statement)
    policy = anonymizer.Policy.loads(POLICY + f"publish: {{database: {release}}}\n")
    assert anonymizer.run(policy, source, seed=3).verification.passed
    assert anonymizer.verify(policy).passed
    return source, release


def rows(made: tuple[Path, Path], query: str) -> list[tuple[Any, ...]]:
    source, release = made
    with duckdb.connect() as connection:
        connection.execute(f"attach '{source}' as src (read_only)")
        connection.execute(f"attach '{release}' as rel (read_only)")
        return connection.execute(query).fetchall()


@pytest.mark.slow
def test_dates_of_a_person_move_alike_in_all_tables(made: tuple[Path, Path]) -> None:
    """Intervals between tables are those of the source; labs are found by their kept number."""
    spans = rows(
        made,
        """select distinct
            (v.day - p.born) - (sv.day - sp.born),
            (l.taken::date - v.day) - (sl.taken::date - sv.day),
            l.taken::time = sl.taken::time
        from rel.labs l join rel.visits v using (vid) join rel.persons p on p.id = v.pid
        join src.labs sl on sl.lid = l.lid join src.visits sv on sv.vid = sl.vid
        join src.persons sp on sp.id = sv.pid""",
    )
    assert spans == [(0, 0, True)]


def test_one_token_in_all_tables(made: tuple[Path, Path]) -> None:
    strange = rows(
        made,
        "select count(*) from rel.visits v join rel.persons p on p.id = v.pid"
        " where v.mail <> p.mail",
    )
    different = rows(made, "select count(distinct mail), count(*) from rel.persons")
    assert strange == [(0,)]
    assert different == [(300, 300)]


@pytest.mark.slow
def test_texts_hold_no_value_of_the_tables_before(tmp_path: Path) -> None:
    """Names of persons, numbers of the ward and of the table itself, in notes of labs."""
    source = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(source)) as connection:
        for statement in TABLES:
            connection.execute(statement)
        connection.execute("alter table persons add column name varchar")
        connection.execute(
            "update persons set name = 'Ada Quist' || chr(cast(97 + id % 26 as integer)) || id"
        )
        connection.execute("alter table visits add column ward_no integer")
        connection.execute("update visits set ward_no = 70000 + ward")
        connection.execute("alter table labs add column nurse varchar")
        connection.execute("alter table labs add column note varchar")
        connection.execute(
            "update labs l set nurse = 'Nurse' || (lid % 7), note = 'saw ' || p.name || ' in '"
            " || v.ward_no || ', Nurse' || (lid % 7) from visits v join persons p on p.id = v.pid"
            " where v.vid = l.vid"
        )
    columns = {
        "mail: {role: token, format: uuid}\n  visits": "mail: {role: drop}\n"
        "      name: {role: identifier}\n  visits",
        "ward: {role: event}": "ward: {role: event}\n      ward_no: {role: identifier}",
        "value: {role: top_code, at_least: 5}": "value: {role: drop}\n"
        "      nurse: {role: identifier}\n      note: {role: redact}",
    }
    text = POLICY + f"publish: {{database: {tmp_path / 'release.duckdb'}}}\n"
    for old, new in columns.items():
        assert old in text
        text = text.replace(old, new)
    policy = anonymizer.Policy.loads(text)
    anonymizer.run(policy, source, seed=3)
    assert anonymizer.verify(policy).passed
    made = (source, tmp_path / "release.duckdb")
    assert rows(made, "select distinct note from rel.labs") == [
        ("saw [name] in [ward_no], [nurse]",)
    ]


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("within: 60 days}\n      mail", "within: far}\n      mail", "tables.persons.columns.born"),
        ("role: noise, share: 0.1", "role: noise", "tables.visits.columns.cost.amount"),
        ("{role: event}", "{role: event, format: hex}", "tables.visits.columns.ward.format"),
        ("within: 60 days}\n      value", "within: 3, per: no}\n      value", "columns.taken.per"),
    ],
)
def test_mistakes_are_told_with_their_table(old: str, new: str, path: str) -> None:
    assert old in POLICY
    with pytest.raises(PolicyError) as caught:
        anonymizer.Policy.loads(POLICY.replace(old, new))
    assert path in str(caught.value)
