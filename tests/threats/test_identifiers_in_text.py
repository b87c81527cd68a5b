"""Text that would be published and holds identifiers: the run refuses it, with counts."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.compile import SCRATCH, Table
from anonymizer.errors import SourceError
from anonymizer.policy.paths import path_text
from anonymizer.review.preview import preview
from anonymizer.run.raw_text import raw_text_stages
from anonymizer.source.profile import KeptColumn, TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Guard, Step
from tests.runs import fill, policy, published, run, source
from tests.selection import some
from tests.threats.identifiers import PLANTED, columns

MAILS = ["jane.doe+x@mail.example.org", "write to a_b@c.de.", "<x@y-z.museum>"]
SSNS = ["123-45-6789", "ssn 123 45 6789, seen", "(123-45-6789)"]


def found(planted: bool) -> dict[str, tuple[str | None, set[str]]]:
    """By column of the corpus, what should be found and what was."""
    listed = list(columns(planted))
    kept = tuple(KeptColumn(i, name, "VARCHAR") for i, (name, _, _) in enumerate(listed, 1))
    made = policy(Path(), {"age": "quasi", **{name: "keep" for name, _, _ in listed}}, k=2)
    profile = TableProfile(tuple((name, "VARCHAR") for name, _, _ in listed))
    table = Table("texts", "main", None)
    suspects, guard = raw_text_stages(made, profile, Roles((), (), kept), table)
    assert isinstance(suspects, Step)
    assert isinstance(guard, Guard)
    with duckdb.connect() as connection:
        fill(
            connection,
            {str(one.k): "VARCHAR" for one in kept},
            list(zip(*(values for _, _, values in listed), strict=True)),
            "texts",
        )
        connection.execute(f"attach ':memory:' as {SCRATCH}")
        connection.execute(suspects.statement().text)
        rows = connection.execute(guard.query.statement().text).fetchall()
    problems = {problem.path: problem.hint or "" for problem in map(guard.explain, rows)}
    hints = {name: problems.get(path_text(("columns", name)), "") for name, _, _ in listed}
    return {
        name: (kind, set(filter(None, hints[name].rpartition("[")[2].rstrip("]").split(", "))))
        for name, kind, _ in listed
    }


@pytest.mark.slow
def test_planted_identifiers_are_found() -> None:
    assert [name for name, (kind, kinds) in found(True).items() if kind not in kinds] == []


@pytest.mark.slow
def test_innocent_columns_raise_no_alarm() -> None:
    assert {name: kinds for name, (_, kinds) in found(False).items() if kinds} == {}


@some(0)
@pytest.mark.parametrize("role", ["keep", "sensitive", "quasi"])
def test_a_run_is_refused_with_counts(tmp_path: Path, role: str) -> None:
    texts = ["flu", *MAILS, *SSNS, None]
    data = [(20 + i % 4, texts[i % len(texts)], "x") for i in range(40)]
    types = {"age": "INTEGER", "note": "VARCHAR", "other": "VARCHAR"}
    database = source(tmp_path, types, data)
    columns: dict[str, Any] = {"age": "quasi", "note": role, "other": "keep"}
    given = policy(tmp_path, columns, k=4)
    with pytest.raises(SourceError) as refused:
        run(given, database)
    (problem,) = refused.value.problems
    assert problem.path == "columns.note"
    assert "15 values with mail addresses" in problem.message
    assert "15 values with social security numbers" in problem.message
    assert "acknowledge: [mail, ssn]" in (problem.hint or "")
    assert not any(text in str(problem) for text in (*MAILS, *SSNS))
    assert [str(one) for one in preview(given, str(database)).problems] == [str(problem)]
    columns["note"] = {"role": role, "acknowledge": ["mail", "ssn"]}
    assert run(policy(tmp_path, columns, k=4), database).verification.passed


@pytest.mark.slow
def test_what_is_not_published_is_not_looked_at(tmp_path: Path) -> None:
    data = [(20 + i % 4, "a@b.de") for i in range(40)]
    database = source(tmp_path, {"age": "INTEGER", "note": "VARCHAR"}, data)
    for role in ("drop", "identifier"):
        run(policy(tmp_path, {"age": "quasi", "note": role}, k=4), database)


def test_numbers_of_cards(tmp_path: Path) -> None:
    make = dict(PLANTED)["cards"][1]
    r = random.Random(1)
    data = [(20 + i % 4, int(make(r)), i // 4) for i in range(40)]
    database = source(tmp_path, {"age": "INTEGER", "paid": "BIGINT", "size": "BIGINT"}, data)
    columns = {"age": "quasi", "paid": {"role": "keep", "acknowledge_unique": True}, "size": "keep"}
    with pytest.raises(SourceError, match=r"columns\.paid: .*40 values with payment cards"):
        run(policy(tmp_path, columns, k=4), database)


CARD = 4111111111111111
TYPED = {
    "JSON": ("""{"to": "user@mail.example"}""", "mail"),
    "BLOB": ("user@mail.example", "mail"),
    "UUID": ("123e4567-e89b-12d3-a456-426614174000", "uuid"),
    "DECIMAL(18,0)": (CARD, "card"),
    "DECIMAL(20,2)": (CARD, "card"),
    "HUGEINT": (CARD, "card"),
    "DOUBLE": (CARD, "card"),
    "INTEGER": (123456782, "national_id"),
}
"""Values that name somebody, in types besides text and BIGINT; the last is a Dutch BSN."""


@pytest.mark.slow
@some(1, 5)
@pytest.mark.parametrize("sql_type", TYPED)
def test_no_type_is_left_unread(tmp_path: Path, sql_type: str) -> None:
    value, kind = TYPED[sql_type]
    database = source(
        tmp_path, {"age": "INTEGER", "x": sql_type}, [(20 + i % 4, value) for i in range(40)]
    )
    with pytest.raises(SourceError, match=rf"columns\.x: .*acknowledge: \[{kind}\]"):
        run(policy(tmp_path, {"age": "quasi", "x": "keep"}, k=4), database)
    said: dict[str, Any] = {"age": "quasi", "x": {"role": "keep", "acknowledge": [kind]}}
    assert run(policy(tmp_path, said, k=4), database).verification.passed


@some(2, 8)
@pytest.mark.parametrize("sql_type", ["INTEGER", "BIGINT", "DECIMAL(9,2)", "DOUBLE", "HUGEINT"])
@pytest.mark.parametrize("of", ["INTEGER", "DOUBLE", "UHUGEINT", "DECIMAL(38,12)"])
def test_numbers_of_identifiers_in_columns_of_other_numbers(
    tmp_path: Path, sql_type: str, of: str
) -> None:
    types = {"age": "INTEGER", "mrn": of, "copy": sql_type, "other": sql_type}
    data = [(20 + i % 4, 70000 + i // 2, 70000 + i // 2, -(i % 9)) for i in range(80)]
    roles = {"age": "quasi", "mrn": "identifier", "copy": "keep", "other": "keep"}
    database = source(tmp_path, types, data)
    with pytest.raises(SourceError) as refused:
        run(policy(tmp_path, roles, k=4), database)
    (problem,) = refused.value.problems
    assert problem.path == "columns.copy"
    assert "80 values that contain a value of an identifier column" in problem.message


@pytest.mark.slow
def test_one_kind_that_is_acknowledged_lets_no_other_through(tmp_path: Path) -> None:
    data = [(20 + i % 4, f"write to a{i}@b.de or call +49 30 {9018200 + i}") for i in range(40)]
    database = source(tmp_path, {"age": "INTEGER", "note": "VARCHAR"}, data)
    for known, left in (("mail", "phone"), ("phone", "mail"), ("name", "mail, phone")):
        note = {"role": "keep", "acknowledge": [known], "acknowledge_unique": True}
        with pytest.raises(SourceError, match=rf"acknowledge: \[{left}\]"):
            run(policy(tmp_path, {"age": "quasi", "note": note}, k=4), database)


@some(1)
@pytest.mark.parametrize(("who", "note"), [("李小龙", "患者{}说"), ("Jose\u0301 N", "saw José N")])
def test_names_in_other_scripts_and_forms(tmp_path: Path, who: str, note: str) -> None:
    names = [f"{who}{'一二三四五六七八九十'[i]}" for i in range(10)]
    said = [note.format(name) if "{}" in note else f"{note}{name[-1]} now" for name in names]
    data = [(20 + i % 4, names[i % 10], said[i % 10]) for i in range(80)]
    database = source(tmp_path, {"age": "INTEGER", "who": "VARCHAR", "note": "VARCHAR"}, data)
    with pytest.raises(SourceError, match=r"columns\.note: .*80 values that contain a value of an"):
        run(policy(tmp_path, {"age": "quasi", "who": "identifier", "note": "keep"}, k=4), database)


@pytest.mark.slow
def test_nodes_of_hierarchies_are_looked_through(tmp_path: Path) -> None:
    """They are written by somebody, and stand in no column."""
    lines = [f"w{i};{'jane' if i < 2 else 'joe'}@x.org;*" for i in range(4)]
    (tmp_path / "wards.csv").write_text("\n".join(lines))
    data = [(20 + i % 4, f"w{i % 4}") for i in range(80)]
    database = source(tmp_path, {"age": "INTEGER", "ward": "VARCHAR"}, data)
    ward: dict[str, Any] = {"role": "quasi", "hierarchy": {"file": "wards.csv"}}
    columns: dict[str, Any] = {"age": "drop", "ward": ward}
    with pytest.raises(SourceError, match=r"columns\.ward\.hierarchy: has nodes .* 2 values with"):
        run(policy(tmp_path, columns, k=30), database)
    columns["ward"] = {**ward, "acknowledge": ["mail"]}
    assert run(policy(tmp_path, columns, k=30), database).verification.passed


@pytest.mark.slow
def test_values_of_identifiers_in_other_columns(tmp_path: Path) -> None:
    """Those of the row, whole or as a part, and of other rows; numbers from five digits on."""
    names = [f"Ana-{'xyzuvw'[i % 6] * (2 + i // 6)} Lopez" for i in range(40)]
    data = [
        (names[i], 5000 + i, 99980 + i, 20 + i % 4, f"saw {names[(i + 1) % 40].lower()}, no fever",
         f"case {99980 + i}, closed", f"case {5000 + i}", f"{90000 + i * 7}", "Lopez")
        for i in range(40)
    ]  # fmt: skip
    types = {"who": "VARCHAR", "id": "INTEGER", "number": "BIGINT", "age": "INTEGER"}
    texts = ("note", "file", "short", "other", "last")
    database = source(tmp_path, {**types, **dict.fromkeys(texts, "VARCHAR")}, data)
    columns: dict[str, Any] = {
        "who": "identifier", "id": "identifier", "number": "identifier", "age": "quasi",
        **{name: {"role": "keep", "acknowledge_unique": True} for name in texts},
    }  # fmt: skip
    with pytest.raises(SourceError) as refused:
        run(policy(tmp_path, columns, k=4), database)
    assert [problem.path for problem in refused.value.problems] == ["columns.note", "columns.file"]
    for problem in refused.value.problems:
        assert "40 values that contain a value of an identifier column" in problem.message
        assert "acknowledge: [identifier_value]" in (problem.hint or "")
    for name in ("note", "file"):
        columns[name] = {**columns[name], "acknowledge": ["identifier_value"]}
    assert run(policy(tmp_path, columns, k=4), database).verification.passed


@some(1)
@pytest.mark.parametrize("name", ["ssn", "e_mail", "patient_first_name", "homePhone", "NAME"])
def test_names_of_columns_that_say_who(tmp_path: Path, name: str) -> None:
    data = [(20 + i % 4, 1000 + i // 2, 1000 + i // 2) for i in range(80)]
    database = source(tmp_path, {"age": "INTEGER", name: "INTEGER", "drug_name": "INTEGER"}, data)
    columns: dict[str, Any] = {"age": "quasi", name: "keep", "drug_name": "keep"}
    with pytest.raises(SourceError) as refused:
        run(policy(tmp_path, columns, k=4), database)
    (problem,) = refused.value.problems
    assert problem.path == path_text(("columns", name))
    assert "40 different values in a column named like an identifier" in problem.message
    columns[name] = {"role": "keep", "acknowledge": ["name"]}
    assert run(policy(tmp_path, columns, k=4), database).verification.passed


@some(1)
@pytest.mark.parametrize("name", ["LAST", "nom_patient", "mother's name", "prénom", "doctor_name"])
def test_texts_that_are_named_like_names_of_persons(tmp_path: Path, name: str) -> None:
    data = [(20 + i % 4, f"value {i // 2}", f"drug {i // 2}") for i in range(80)]
    database = source(tmp_path, {"age": "INTEGER", name: "VARCHAR", "drug_name": "VARCHAR"}, data)
    columns: dict[str, Any] = {"age": "quasi", name: "keep", "drug_name": "keep"}
    with pytest.raises(SourceError) as refused:
        run(policy(tmp_path, columns, k=4), database)
    (problem,) = refused.value.problems
    assert problem.path == path_text(("columns", name))
    assert "40 different values in a column named like an identifier" in problem.message


def test_parts_of_uuids_are_no_telephone_numbers() -> None:
    """A UUID is asked about as what it is, whatever digits its parts begin with."""
    uuids = [f"{i:08x}-0012-4{i % 1000:03}-9876-{i:012}" for i in range(40)]
    kept = (
        KeptColumn(1, "ref", "VARCHAR"),
        KeptColumn(2, "pair", "VARCHAR"),
        KeptColumn(3, "both", "VARCHAR"),
    )
    rows = [(one, f"{one} {one}", f"{one} 0049-30-1234567") for one in uuids]
    table = Table("texts", "main", None)
    made = policy(Path(), {"age": "quasi", **{k.column: "keep" for k in kept}}, k=2)
    profile = TableProfile(tuple((k.column, "VARCHAR") for k in kept))
    suspects, guard = raw_text_stages(made, profile, Roles((), (), kept), table)
    assert isinstance(suspects, Step)
    assert isinstance(guard, Guard)
    with duckdb.connect() as connection:
        fill(connection, {str(k.k): "VARCHAR" for k in kept}, rows, "texts")
        connection.execute(f"attach ':memory:' as {SCRATCH}")
        connection.execute(suspects.statement().text)
        found = connection.execute(guard.query.statement().text).fetchall()
    assert [kinds for _, _, kinds in found] == ["uuid", "uuid", "phone, uuid"]


OF_NOTES = {
    "phone": "call 0171 1234567 for results",
    "coordinates": "seen at 48.13743, 11.57549 by a nurse",
    "mail": "write to jane.doe at mail.example.org",
    "iban": "paid to nl91 abna 0417 1643 00 in May",
}


@some(2, 5)
@pytest.mark.parametrize("rows", [1, 160, 400])
@pytest.mark.parametrize("kind", OF_NOTES)
def test_other_values_are_of_no_account(tmp_path: Path, kind: str, rows: int) -> None:
    """Not 40 % of the notes, and not one of them, may hold what all of them may not."""
    said = [OF_NOTES[kind] if i < rows else f"stable, day {i % 9}, dose 1.5" for i in range(400)]
    data = [(20 + i % 4, note) for i, note in enumerate(said)]
    database = source(tmp_path, {"age": "INTEGER", "note": "VARCHAR"}, data)
    given = policy(tmp_path, {"age": "quasi", "note": {"role": "keep"}}, k=4)
    with pytest.raises(SourceError, match=rf"columns\.note: .* {rows} values .*: \[{kind}\]"):
        run(given, database)
    redacted = policy(tmp_path, {"age": "quasi", "note": "redact"}, k=4)
    texts = [row["note"] for row in published(run(redacted, database))]
    assert sum(f"[{kind}]" in text for text in texts) == rows


def test_digits_alone_are_like_no_telephone_number(tmp_path: Path) -> None:
    """Most values have as many digits as some identifier, and no valid check digit."""
    said = ["0171 1234567" if i < 10 else f"{12345678900 + 1000 * i}" for i in range(400)]
    data = [(20 + i % 4, note) for i, note in enumerate(said)]
    database = source(tmp_path, {"age": "INTEGER", "note": "VARCHAR"}, data)
    given = policy(tmp_path, {"age": "quasi", "note": "keep"}, k=4)
    with pytest.raises(SourceError, match=r"columns\.note: .* 10 values .*: \[phone\]"):
        run(given, database)


@pytest.mark.slow
def test_what_refuses_a_run_can_be_redacted(tmp_path: Path) -> None:
    listed = [(kind, values) for _, kind, values in columns(True)
              if any("nothing of note" in value for value in values)]  # fmt: skip
    named = {f"c{place}": "VARCHAR" for place in range(len(listed))}
    rows = zip(*(values for _, values in listed), strict=True)
    data = [(20 + i % 4, *row) for i, row in enumerate(rows)]
    database = source(tmp_path, {"age": "INTEGER", **named}, data)
    hidden: dict[str, Any] = {"role": "redact", "acknowledge_unique": True}
    release = run(policy(tmp_path, {"age": "quasi", **dict.fromkeys(named, hidden)}, k=4), database)
    texts = published(release)
    for (kind, values), name in zip(listed, named, strict=True):
        # (a card may begin like a number of another kind)
        shown = [row[name] for row in texts if re.search(r"\[[a-z_]+\]", row[name])]
        planted = [value for value in values if "nothing of note" not in value]
        assert len(shown) == len(planted), (kind, planted[0])
