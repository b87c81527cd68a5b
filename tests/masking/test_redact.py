"""Identifiers of the policy's own columns, found in free text."""

from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.errors import SourceError
from tests.runs import policy, published, run, source
from tests.selection import some

POLICY = """
version: 1
source: {table: notes}
columns:
  name: {role: identifier}
  customer: {role: token}
  seen: {role: drop}
  group: {role: quasi}
  note: {role: redact}
privacy: {k_anonymity: 2}
publish: {database: release.duckdb}
"""
ROWS = [
    ("Anna-Lena Möller", "C100001", "Frau ANNA-LENA  möller (C100001) called"),
    ("José Ñandú", "C100002", "josé ñandú; C100001/C100002, not C1000019"),
    ("Ann", "C100003", "Ann is too short a name to be looked for: a word like any other"),
    ("Müller", "C100004", None),
    ("O'Neil", "C100005", "o'neil, O Neil and ONeil"),
    ("李小龙", "C100006", "spoke with 李小龙 (C100006)."),
    ("[a-z]+", "C100007", "a-z is a range; x.y@z.org wrote [a-z]+"),
    (
        "Zoë Zweig",
        "C100009",
        "line one\nann@k\u00f6ln.example\r\n+49\u00a030\u00a01234567; 123\u201145\u20116789",
    ),
    ("Yves Yersin", "C100011", "ann@müller.example"),
    ("Xaver Xu", "C100010", "a\u00a0space \u2013 and nothing else"),
    ("Anna Möller", "C100008", "Anna Möller, Anna Möller,Anna Möller"),
    ("Ben Ott", "C100077", "тел. 79161234567, да; call 0201234567! 电话：13812345678号"),
    ("Ben Ott", "C100078", "at lat=52.5200, lon=13.4050; N 52.5200 E 13.4050."),
]
SHOWN = {
    "Frau [name] ([customer]) called",
    "[name]; [customer]/[customer], not C1000019",
    "Ann is too short a name to be looked for: a word like any other",
    None,
    "[name], [name] and ONeil",
    "spoke with [name] ([customer]).",
    "a-z is a range; [mail] wrote [a-z]+",
    "[name], [name],[name]",
    "тел. [phone], да; call [phone]! 电话:[phone]号",
    "at [coordinates]; [coordinates].",
    "[mail]",
    "line one\n[mail]\r\n[phone]; [ssn]",
    "a\u00a0space \u2013 and nothing else",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute(
            'create table notes(name varchar, customer varchar, seen date, "group" int,'
            " note varchar)"
        )
        for number, (name, customer, note) in enumerate(ROWS):
            connection.execute(
                "insert into notes values (?, ?, current_date, ?, ?)",
                [name, customer, number % 2, note],
            )
    return tmp_path


@pytest.mark.slow
def test_values_are_found_by_their_words(folder: Path) -> None:
    policy = anonymizer.Policy.loads(
        POLICY.replace("role: redact", "role: redact, acknowledge_unique: true"), folder
    )
    release = anonymizer.run(policy, folder / "source.duckdb")
    shown = {None if note != note else note for note in release.df()["note"]}
    assert shown == SHOWN


WRITTEN = [
    ("José Ñandú", "seen Jose\u0301 N\u0303andu\u0301", "seen [who]"),
    ("Zoe\u0308 Quist", "Zoë Quist came", "[who] came"),
    ("Müller", "Mül\u200bler came", "[who] came"),
    ("Ａｎｎａ Ｍｅｉｅｒ", "anna meier came", "[who] came"),
    ("李小龙", "患者李小龙说，李小龙。", "患者[who]说,[who]。"),
    ("王伟", "王伟 and Wang", "[who] and Wang"),
    ("김철수", "어제 김철수가 왔다", "어제 [who]가 왔다"),
    ("İpek IŞIK", "ipek ışık, İPEK IŞIK", "[who], [who]"),
    ("ΣΊΣΥΦΟΣ", "σίσυφος, Σίσυφος", "[who], [who]"),
    ("STRASSER", "Herr Straßer", "Herr [who]"),
    ("O’Brien", "o'brien", "[who]"),
    ("a%b_c'd\\e$1", "x a%b_c'd\\e$1 y", "x [who] y"),
    ("(.*)+ [xyz]", "all (.*)+ [xyz] left", "all (.*)+ [xyz] left"),
    ("X", "X is a letter", "X is a letter"),
    ("Quist, Anna Lena", "Anna Lena Quist; QUIST, Anna Lena", "[who]; [who]"),
    ("Quist,Zoë", "spoke to Zoë Quist.", "spoke to [who]."),
    ("Anna Lena Quist", "Quist, Anna Lena and Anna Quist", "[who] and Anna Quist"),
    ("Quist Anna Lena-Ida ", "Lena-Ida Quist Anna", "[who]"),
    ("Quist, Anna,\nMD", "Anna Quist, MD", "[who], MD"),
    (", Quist ,", "Quist , came", "[who] , came"),
    ("Ward 7", "7 Ward and Ward 7", "7 Ward and [who]"),
    (None, "None and null", "None and null"),
    (None, "nir 1 85 05 78 006 084 36 seen", "nir [national_id] seen"),
]
"""Identifiers, texts in which they are written in another way, and what is published."""


@some(1)
@pytest.mark.parametrize(("who", "text", "shown"), WRITTEN)
def test_they_are_found_however_they_are_written(
    tmp_path: Path, who: str | None, text: str, shown: str
) -> None:
    given = policy(tmp_path, {"who": "identifier", "q": "quasi", "note": {"role": "redact"}}, k=2)
    database = source(
        tmp_path, {"who": "VARCHAR", "q": "INTEGER", "note": "VARCHAR"}, [(who, 1, text)] * 4
    )
    assert {row["note"] for row in published(run(given, database))} == {shown}


@pytest.mark.slow
def test_what_is_a_part_of_another_value_leaves_nothing_of_it(tmp_path: Path) -> None:
    """First names have a column of their own, before that of whole names."""
    text = "Anna Quist, anna quist; Anna, and Quist alone"
    types = {"first": "VARCHAR", "who": "VARCHAR", "q": "INTEGER", "note": "VARCHAR"}
    database = source(tmp_path, types, [("Anna", "Anna Quist", 1, text)] * 4)
    roles = {"first": "identifier", "who": "identifier", "q": "quasi", "note": "redact"}
    (shown,) = {row["note"] for row in published(run(policy(tmp_path, roles, k=2), database))}
    assert shown == "[who], [who]; [first], and Quist alone"


LONG = "Flat 12, 34 Long Winding Road, Little Village by the Sea, County of Nowhere"


def gate(folder: Path, columns: str, values: str) -> None:
    """A run of a table of 200 rows with these columns and values."""
    with duckdb.connect(str(folder / "gate.duckdb")) as connection:
        connection.execute(f"create table t as select i % 5 as age, {values} from range(200) r(i)")
    text = f"version: 1\nsource: {{table: t}}\ncolumns:\n  age: {{role: quasi}}\n{columns}"
    text += "privacy: {k_anonymity: 5}\npublish: {database: gate_release.duckdb}\n"
    release = anonymizer.run(anonymizer.Policy.loads(text, folder), folder / "gate.duckdb")
    assert release.verification.passed


@pytest.mark.slow
def test_values_of_many_words_are_found(folder: Path) -> None:
    columns = "  home: {role: identifier}\n  note: {role: redact}\n"
    values = f"'{LONG} ' || (1000 + i) as home, 'lives in {LONG} ' || (1000 + i) || ' now' as note"
    gate(folder, columns, values)
    with duckdb.connect(str(folder / "gate_release.duckdb"), read_only=True) as release:
        assert release.execute("select distinct note from t_anonymous").fetchall() == [
            ("lives in [home] now",)
        ]


@pytest.mark.slow
def test_values_that_have_tokens_stand_in_no_other_column(folder: Path) -> None:
    columns = "  customer: {role: token}\n  note: {role: keep, acknowledge_unique: true}\n"
    values = "'CUST' || (1000 + i) as customer, 'order of CUST' || (1000 + i) as note"
    with pytest.raises(SourceError, match="note: seems to contain"):
        gate(folder, columns, values)


def test_a_code_far_away_hides_no_numbers(folder: Path) -> None:
    """Payment cards (4111 1111 1111 1111) are looked for in what a code leaves as it is."""
    columns = "  paid: {role: top_code, at: 9000000000000000000}\n"
    with pytest.raises(SourceError, match=r"paid: seems to contain .* payment cards"):
        gate(folder, columns, "4111111111111111 as paid")
