"""Every column that says who somebody is, of every type: its values stand in no published text."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.engines.base import Limits
from anonymizer.errors import AnonymizerError, GuaranteeError, SourceError
from tests.runs import policy, published, run, source
from tests.selection import some

ROWS = 60
TYPES: dict[str, Any] = {
    "VARCHAR": lambda n: f"PAT{n:05d}x",
    "SMALLINT": lambda n: 20_000 + n,
    "INTEGER": lambda n: 700_123_456 + n,
    "BIGINT": lambda n: 700_123_456_000 + n,
    "HUGEINT": lambda n: 10**30 + n,
    "DECIMAL(12,0)": lambda n: Decimal(700_123_456 + n),
    "DECIMAL(14,2)": lambda n: Decimal(700_123_456 + n) + Decimal("0.25") * (n % 2),
    "FLOAT": lambda n: 70_000.0 + n,
    "DOUBLE": lambda n: 700_123_456.0 + n,
    "DATE": lambda n: dt.date(1950, 1, 1) + dt.timedelta(n),
    "TIMESTAMP": lambda n: dt.datetime(1950, 1, 1, 10) + dt.timedelta(hours=n * 7),
    "TIMESTAMP WITH TIME ZONE": lambda n: (
        dt.datetime(1950, 1, 1, n % 24, tzinfo=dt.UTC) + dt.timedelta(n)
    ),
    "UUID": lambda n: f"123e4567-e89b-12d3-a456-4266141740{n:02d}",
    "BLOB": lambda n: f"PAT{n:05d}x",
    "JSON": lambda n: f'"PAT{n:05d}x"',
}
ROLES: dict[str, tuple[Any, dict[str, Any]]] = {
    "identifier": ("identifier", {}),
    "token": ("token", {}),
    "key": ("drop", {"key": "who"}),
    "person": ("drop", {"person": "who"}),
}


def shown(value: Any) -> str:
    """The value as somebody writes it in a note."""
    match value:
        case float():
            return str(int(value))
        case Decimal():
            return str(int(value)) if value == int(value) else str(value)
        case dt.datetime():
            return value.replace(tzinfo=None).isoformat(" ").removesuffix(" 00:00:00")
    return str(value).strip('"')


def made(folder: Path, kind: str, role: str, text: Any) -> tuple[anonymizer.Policy, Path]:
    listed = [TYPES[kind](n) for n in range(ROWS)]
    rows = [(one, n % 2, f"saw {shown(one)} today") for n, one in enumerate(listed)]
    database = source(folder, {"who": kind, "q": "INTEGER", "note": "VARCHAR"}, rows)
    given, rest = ROLES[role]
    note = {"role": text, "acknowledge_unique": True}
    if text == "keep" and kind == "UUID":
        note["acknowledge"] = ["uuid"]
    return policy(folder, {"who": given, "q": "quasi", "note": note}, k=2, **rest), database


@some(1)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", TYPES)
def test_none_is_left_in_redacted_text(tmp_path: Path, kind: str, role: str) -> None:
    given, database = made(tmp_path, kind, role, "redact")
    assert {row["note"] for row in published(run(given, database))} == {"saw [who] today"}


@some(1)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", TYPES)
def test_text_that_holds_them_is_not_published(tmp_path: Path, kind: str, role: str) -> None:
    given, database = made(tmp_path, kind, role, "keep")
    with pytest.raises(SourceError, match="note: seems to contain"):
        run(given, database)


@some(2)
@pytest.mark.parametrize("own", [True, False], ids=["own row", "any row"])
@pytest.mark.parametrize("role", ["keep", "sensitive", "quasi"])
def test_names_are_found_in_the_other_order(tmp_path: Path, role: str, own: bool) -> None:
    """A table has `Quist, Anna`, and a text `Anna Quist`."""
    names = [f"Quist{chr(97 + n)}, Anna{chr(97 + n)}" for n in range(20)]
    order = names if own else [*names[1:], names[0]]
    texts = [f"saw {' '.join(reversed(name.split(', ')))} today" for name in order]
    # (no other column is searched, whose values could stand for those of the text)
    rows = [(who, n % 2 > 0, text) for n, (who, text) in enumerate(zip(names, texts, strict=True))]
    database = source(tmp_path, {"who": "VARCHAR", "q": "BOOLEAN", "note": "VARCHAR"}, rows)
    note = {"role": role, "acknowledge_unique": True} if role != "quasi" else {"role": role}
    given = policy(tmp_path, {"who": "identifier", "q": "quasi", "note": note}, k=2)
    with pytest.raises(SourceError, match=r"columns\.note: seems to contain 20 values that"):
        run(given, database)


@some(1)
@pytest.mark.parametrize("kind", ["BOOLEAN", "TINYINT", "INTEGER", "DOUBLE", "DECIMAL(4,1)"])
def test_short_numbers_tear_no_text_apart(tmp_path: Path, kind: str) -> None:
    value: dict[str, Any] = {"BOOLEAN": True, "DECIMAL(4,1)": Decimal("12.5")}
    one = value.get(kind, 42)
    rows = [(one, n % 2, "true, 42 of 12.5 mg") for n in range(20)]
    database = source(tmp_path, {"who": kind, "q": "INTEGER", "note": "VARCHAR"}, rows)
    given = policy(tmp_path, {"who": "identifier", "q": "quasi", "note": "redact"}, k=2)
    assert {row["note"] for row in published(run(given, database))} == {"true, 42 of 12.5 mg"}


def _nothing_found(mask: Any, value: Any) -> Any:
    return value


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["VARCHAR", "DOUBLE", "DATE", "JSON"])
def test_what_is_left_is_found(tmp_path: Path, monkeypatch: Any, kind: str) -> None:
    """By the gate, and where that is told to let it pass by the verification."""
    monkeypatch.setattr("anonymizer.source.masking.expressions.without_values", _nothing_found)
    given, database = made(tmp_path, kind, "person", "redact")
    with pytest.raises(SourceError, match="note: seems to contain"):
        run(given, database)
    note = {"role": "redact", "acknowledge_unique": True, "acknowledge": ["identifier_value"]}
    given = policy(tmp_path, {"who": "drop", "q": "quasi", "note": note}, k=2, person="who")
    with pytest.raises(GuaranteeError, match="source_mask_identifiers"):
        run(given, database)


TABLES = """
version: 1
person: patients
tables:
  patients:
    source: {table: patients}
    key: patient_id
    columns:
      patient_id: {role: key}
      sex: {role: quasi}
  visits:
    source: {table: visits}
    key: visit_id
    links: {patient_id: patients}
    columns:
      visit_id: {role: key}
      patient_id: {role: key}
      note: {role: NOTE, acknowledge_unique: true}
privacy: {k_anonymity: 5}
publish: {database: release.duckdb}
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["varchar", "bigint", "double"])
def test_keys_of_several_tables(tmp_path: Path, kind: str) -> None:
    one = "'PAT' || lpad(i::varchar, 5, '0')" if kind == "varchar" else "700123456 + i * 7"
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute(
            f"create table patients as select cast({one} as {kind}) as patient_id,"
            " i % 2 as sex from range(100) r(i)"
        )
        connection.execute(
            f"create table visits as select 'VIS' || (1000 + i) as visit_id,"
            f" cast({one} as {kind}) as patient_id,"
            f" 'saw ' || {one} || ' in VIS' || (1000 + i) as note from range(100) r(i)"
        )
    kept = anonymizer.Policy.loads(TABLES.replace("NOTE", "keep"), tmp_path)
    with pytest.raises(AnonymizerError, match="note: seems to contain"):
        anonymizer.run(kept, tmp_path / "source.duckdb")
    redacted = anonymizer.Policy.loads(TABLES.replace("NOTE", "redact"), tmp_path)
    anonymizer.run(redacted, tmp_path / "source.duckdb")
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as release:
        notes = release.execute("select distinct note from visits").fetchall()
    assert notes == [("saw [patient_id] in [visit_id]",)]


@pytest.mark.slow
def test_long_texts_cost_as_much_as_many_short_ones(tmp_path: Path) -> None:
    """Every word is compared with the values that begin with it, and not with the whole text."""
    words = " ".join(f"word{n} Ada" for n in range(8000))
    rows = [(f"Ada Lovelace{n}", n % 2, f"{words} Lovelace{n} end") for n in range(4)]
    database = source(tmp_path, {"who": "VARCHAR", "q": "INTEGER", "note": "VARCHAR"}, rows)
    note = {"role": "redact", "acknowledge_unique": True}
    given = policy(tmp_path, {"who": "identifier", "q": "quasi", "note": note}, k=2)
    release = run(given, database, limits=Limits(1, "1GB", None))
    assert {row["note"].split()[-2] for row in published(release)} == {"[who]"}
