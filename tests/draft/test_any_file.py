"""Messy files: what a draft writes reads them as they are meant, and runs unedited."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas as pd
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.engines.duckdb.source import open_session
from anonymizer.errors import AnonymizerError, PolicyError, SourceError
from anonymizer.policy.reading import ENCODINGS, DateForm, Reading
from anonymizer.source.recognition import UNKNOWN, encoding_of
from tests.selection import some

Row = Sequence[Any]
ROWS = 120
RUINED = {
    "cut within a letter": "nr,ort\n" + "1,Köln\n" * 50 + "2,Kö",
    "a byte of another encoding": "nr,ort\n" + "1,Köln\n" * 50 + "2,K\udcf6ln\n3,Köln\n",
    "cut in a row": "nr,ort,age\n" + "1,Bonn,3\n" * 50 + "2,Bonn",
    "a long row": "nr,ort,age\n" + "1,Bonn,3\n" * 50 + "2,Bonn,4,5\n",
}
NAMES = ("nr", "geboren", "plz", "betrag", "diagnose")


def people() -> list[tuple[int, dt.date | None, str, float, str | None]]:
    """What every file says: number, birth, postcode with zeros, an amount, a diagnosis."""
    return [
        (
            1000 + i,
            None if i % 17 == 0 else dt.date(1950, 1, 1) + dt.timedelta(days=i * 211),
            ["01067", "01069", "10115", "20095"][i % 4],
            round(i * 317.25 - 4000, 2),
            None if i % 23 == 0 else ["Grippe", "Asthma", "Gicht", "Rückenschmerzen"][i % 4],
        )
        for i in range(ROWS)
    ]


def written(
    delimiter: str = ",",
    dates: str = "%Y-%m-%d",
    unknown: tuple[str, ...] = ("",),
    decimal: str = ".",
    thousands: str = "",
    before: str = "",
    after: str = "",
) -> str:
    """The rows as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(NAMES)
    for i, (nr, born, plz, amount, ill) in enumerate(people()):
        number = f"{amount:,.2f}".translate({ord(","): thousands, ord("."): decimal})
        missing = unknown[i % len(unknown)]
        day = missing if born is None else born.strftime(dates)
        writer.writerow([nr, day, plz, number, missing if ill is None else ill])
    return before + text.getvalue() + after


def as_sheet(file: Path, rows: Sequence[Row]) -> None:
    width = max(map(len, rows))
    filled = [[*row, *[None] * (width - len(row))] for row in rows]
    pd.DataFrame(filled).to_excel(file, header=False, index=False)


def sheet(file: Path) -> None:
    rows: list[Row] = [("Auszug vom Mai",), NAMES, *people()]
    as_sheet(file, [*rows, ("Summe", None, None, 123.5, None)])


def text(encoding: str = "utf-8", **how: Any) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(written(**how).encode(encoding))


GERMAN: dict[str, Any] = {"delimiter": ";", "dates": "%d.%m.%Y", "decimal": ",", "thousands": "."}
FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "plain": ("a.csv", text()),
    "german office": (
        "a.csv",
        text(
            "cp1252",
            unknown=("unbekannt", "k.A.", "-"),
            before="Einwohnermeldeamt – Auszug;;;;\n",
            after="Summe;;;1.234,50;\n",
            **GERMAN,
        ),
    ),
    "utf-16 of a spreadsheet": ("a.csv", text("utf-16", delimiter="\t", unknown=("N/A",))),
    "tabs": ("a.tsv", text(delimiter="\t", unknown=("NULL", "null"))),
    "packed": (
        "a.csv.gz",
        lambda file: file.write_bytes(gzip.compress(written(**GERMAN).encode())),
    ),
    "american dates": ("a.csv", text(dates="%m/%d/%Y", unknown=("unknown", "?"))),
    "british dates": ("a.csv", text(dates="%d/%m/%Y", unknown=("not known",))),
    "dates with names": ("a.csv", text(dates="%d %b %Y", unknown=("#N/A",))),
    "dates with slashes": ("a.csv", text(dates="%Y/%m/%d", unknown=("inconnu", "n.c."))),
    "dates in a number": ("a.csv", text(dates="%d-%m-%Y", unknown=("desconocido", "s/d"))),
    "bars": ("a.csv", text(delimiter="|", unknown=("nieznany", "brak danych", "неизвестно"))),
    "swiss numbers": ("a.csv", text(delimiter=";", unknown=("sconosciuto", "onbekend", "okänd"))),
    "sheet": ("a.xlsx", sheet),
    "lines of JSON": (
        "a.jsonl",
        lambda file: file.write_text(
            "\n".join(
                json.dumps(dict(zip(NAMES, row, strict=True)), default=str) for row in people()
            )
        ),
    ),
}


def rows_read(policy: Policy) -> Sequence[Row]:
    """The source as a run reads it, by its number."""
    with open_session(policy, None) as session:
        columns = ", ".join(f'"{name}"' for name in NAMES)
        text = f"select {columns} from {session.source.sql} order by nr"
        return session.engine.raw(text, "source")


@some(14)
@pytest.mark.parametrize("name", FILES)
def test_a_draft_reads_a_file_as_it_is_meant_and_runs_unedited(name: str, tmp_path: Path) -> None:
    form, write = FILES[name]
    file = tmp_path / form
    write(file)
    made = anonymizer.init(str(file), base=tmp_path)
    assert str(made) == made.text  # (what `print` shows)
    policy = Policy.loads(made.text, tmp_path)
    found = rows_read(policy)
    expected = people()
    assert [row[0] for row in found] == [row[0] for row in expected]
    assert [row[1] for row in found] == [row[1] for row in expected]
    assert [str(row[2]) for row in found] == [row[2] for row in expected]
    assert [float(row[3]) for row in found] == [row[3] for row in expected]
    assert [row[4] for row in found] == [row[4] for row in expected]
    release = anonymizer.run(policy)
    assert release.verification.passed
    column = next(c for c in release.manifest.layout.columns if c.column == "geboren")
    assert column.sql_type == "DATE"  # (so that its cells are ranges)


@pytest.mark.parametrize("name", RUINED)
def test_what_was_damaged_is_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    whole = RUINED[name].encode("utf-8", "surrogateescape")
    file.write_bytes(whole[:-1] if name == "cut within a letter" else whole)
    with pytest.raises(AnonymizerError):
        anonymizer.init(str(file), base=tmp_path)


def test_the_next_file_of_the_same_form_is_read_by_the_same_policy(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(written(**GERMAN).encode("cp1252"))
    made = anonymizer.init(str(tmp_path / "a.csv"), base=tmp_path)
    policy = Policy.loads(made.text, tmp_path)
    later = tmp_path / "later.csv"
    # in the next month all days could be months: the policy says which they are
    text = written(**GERMAN).replace("Grippe", "Husten")
    later.write_bytes(text.encode("cp1252"))
    moved = policy.with_file(later)
    assert moved.digest() == policy.digest()
    assert {row[4] for row in rows_read(moved)} == {
        None,
        "Husten",
        "Asthma",
        "Gicht",
        "Rückenschmerzen",
    }
    release = anonymizer.run(moved)
    assert anonymizer.verify(policy).passed
    assert "Husten" in set(release.df()["diagnose"])


def test_a_cell_of_another_type_is_an_error_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(written(**GERMAN))
    policy = Policy.loads(anonymizer.init(str(file), base=tmp_path).text, tmp_path)
    lines = file.read_text().split("\n")
    nr, _, *others = lines[9].split(";")
    lines[9] = ";".join([nr, "31.02.1990", *others])
    file.write_text("\n".join(lines))
    said = r"source\.read\.types\.geboren: is date, and 1 cell is none: the first in row 9"
    with pytest.raises(SourceError, match=said) as caught:
        anonymizer.run(policy)
    assert "31.02" not in str(caught.value)


def test_two_meanings_of_a_date_are_asked_and_not_guessed(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    days = [f"{1 + i % 12:02d}/{1 + i % 11:02d}/19{50 + i % 40}" for i in range(60)]
    file.write_text("nr,born\n" + "".join(f"{i},{day}\n" for i, day in enumerate(days)))
    made = anonymizer.init(str(file), base=tmp_path)
    assert "may be %d/%m/%Y or %m/%d/%Y" in made.text
    assert "born: text" in made.text


def test_dates_of_two_forms_are_read_each_in_its_own(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    lines = [
        f"{i};{13 + i % 9}.03.2{i:03d};{14 + i % 9}.04.2{i:03d};2024-05-{10 + i % 9}"
        for i in range(90)
    ]
    file.write_text("nr;born;came;left\n" + "\n".join(lines) + "\n")
    made = anonymizer.init(str(file), base=tmp_path)
    policy = Policy.loads(made.text, tmp_path)
    assert policy.source.read is not None
    types = dict(policy.source.read.types)
    assert (types["born"], types["came"]) == ("date", "date")
    assert types["left"] == DateForm(date="%Y-%m-%d")
    assert policy.source.read.dates == "%d.%m.%Y"
    anonymizer.run(policy)
    changed = file.read_text().replace(";2024-05-10\n", ";2024-05-32\n", 1)
    file.write_text(changed)
    with pytest.raises(SourceError, match=r"types\.left: is date, and 1 cell is none"):
        anonymizer.run(policy)


def rows_of(tmp_path: Path, text: str) -> tuple[str, Sequence[Row]]:
    """The draft for a file, and the rows that it reads."""
    file = tmp_path / "a.csv"
    file.write_text(text)
    made = anonymizer.init(str(file), base=tmp_path)
    with open_session(Policy.loads(made.text, tmp_path), None) as session:
        return made.text, session.engine.raw(f"select * from {session.source.sql}", "source")


ILL = ("flu", "gout", "acne")


@pytest.mark.parametrize(
    ("cell", "signs"),
    [
        ("{0}\u202f{1},50", {"decimal": ",", "thousands": " "}),
        ("{0}\u00a0{1},50", {"decimal": ",", "thousands": " "}),
        ("{0}.{1},5", {"decimal": ",", "thousands": "."}),
        ("{0},{1}.50", {"thousands": ","}),
        ("{0}'{1}", {"thousands": "'"}),
        ("{0} {1}.5", {"thousands": " "}),
        ("{0},{1},000", {"thousands": ","}),
    ],
)
def test_signs_in_numbers(tmp_path: Path, cell: str, signs: dict[str, str]) -> None:
    cells = [cell.format(1 + i % 5, 100 + i % 7) for i in range(120)]
    lines = [f"{i};{one};{ILL[i % 3]}" for i, one in enumerate(cells)]
    text, rows = rows_of(tmp_path, "nr;amount;ill\n" + "\n".join(lines) + "\n")
    read = Policy.loads(text, tmp_path).source.read
    assert read is not None
    assert {"decimal": ".", **signs} == read.model_dump(include={"decimal", *signs})
    bare = [one.translate(dict.fromkeys(map(ord, "\u202f\u00a0 '"))) for one in cells]
    plain = [
        one.replace(".", "").replace(",", ".") if "decimal" in signs else one.replace(",", "")
        for one in bare
    ]
    assert [row[1] for row in rows] == [float(one) for one in plain]


@pytest.mark.parametrize("unknown", ["1990-01-01", "-", "k.A."])
@pytest.mark.parametrize("names", ["nr;d;e", "nr;e;d"])
def test_dates_of_other_forms_beside_those_of_iso(tmp_path: Path, names: str, unknown: str) -> None:
    """The engine reads all dates of a file in the form that it has seen first."""
    order = names.split(";")
    lines = []
    for i in range(120):
        cells = {"nr": str(i), "d": f"{13 + i % 9}.03.2{i:03d}", "e": f"199{i % 9}-0{1 + i % 9}-02"}
        cells["e"] = unknown if i % 7 == 1 else cells["e"]
        lines.append(";".join(cells[name] for name in order))
    _, rows = rows_of(tmp_path, f"{names}\n" + "\n".join(lines) + "\n")
    found = [dict(zip(order, row, strict=True)) for row in rows]
    assert found[0] == {"nr": 0, "d": dt.date(2000, 3, 13), "e": dt.date(1990, 1, 2)}
    assert found[1]["e"] == (dt.date(1990, 1, 1) if unknown[0] == "1" else None)


def test_few_mistakes_in_a_column_are_counted(tmp_path: Path) -> None:
    def line(i: int) -> str:
        day = "31.02.1980" if i == 7 else f"{13 + i % 9}.03.19{50 + i % 40}"
        return f"{i};{day};{'ca. 5' if i in (3, 9) else i % 7};{ILL[i % 3]}"

    text, _ = rows_of(tmp_path, "nr;born;dose;ill\n" + "\n".join(map(line, range(120))) + "\n")
    assert "born stays text: 1 cell is none of 120, and all others are dates as %d.%m.%Y" in text
    assert "dose stays text: 2 cells are none of 120, and all others are numbers" in text
    assert "mend the file (the first in row 8 below the names)" in text
    assert "mend the file (the first in row 4 below the names)" in text
    # nearly dates as text would lose all, and nearly numbers be published as they stand
    for name in ("born", "dose"):
        assert re.search(rf"{name}: +\{{role: (drop|identifier)\}}", text), text


@pytest.mark.parametrize("unit", ["€", " EUR", "%"])
def test_numbers_with_a_unit_are_not_published_as_text(tmp_path: Path, unit: str) -> None:
    lines = [f"{i};43.{i:03d},99{unit};{ILL[i % 3]}" for i in range(120)]
    text, _ = rows_of(tmp_path, "nr;wage;ill\n" + "\n".join(lines) + "\n")
    assert "wage stays text: its numbers have a unit behind them" in text
    assert re.search(r"wage: +\{role: drop\}", text), text


@pytest.mark.parametrize("dash", ["–", "—"])
def test_a_dash_of_any_length_is_unknown(tmp_path: Path, dash: str) -> None:
    lines = [f"{i};{dash if i % 9 == 0 else f'1{i % 9}.03.1980'};{ILL[i % 3]}" for i in range(120)]
    text, rows = rows_of(tmp_path, "nr;born;ill\n" + "\n".join(lines) + "\n")
    assert f"nulls: [{dash}]" in text or f'nulls: ["{dash}"]' in text
    assert rows[0][1] is None


@pytest.mark.parametrize(
    "name", ["Personalnummer", "Kunden-Nr.", "numéro client", "Matrikelnummer"]
)
def test_the_number_of_a_person_is_the_key(tmp_path: Path, name: str) -> None:
    """Then names that repeat are no persons with several rows."""
    lines = [
        f"{7000 + i};Meier {i % 40};Weg {i % 60};{20 + i % 9};{ILL[i % 3]}" for i in range(240)
    ]
    text, _ = rows_of(tmp_path, f"{name};Name;Strasse;alter;ill\n" + "\n".join(lines) + "\n")
    assert re.search(r"^key: ", text, re.MULTILINE), text
    assert "# person:" not in text
    release = anonymizer.run(Policy.loads(text, tmp_path))
    assert not [one for one in release.warnings if "person:" in one]


def test_points_may_be_thousands(tmp_path: Path) -> None:
    cells = ["850", "2.050", "3.100", "1.200.300"]
    lines = [f"{i};{cells[i % 4]};{ILL[i % 3]};{i % 9},5" for i in range(120)]
    text, rows = rows_of(tmp_path, "nr;wage;ill;dose\n" + "\n".join(lines) + "\n")
    assert 'thousands: "."' in text
    assert [row[1] for row in rows[:4]] == [850, 2050, 3100, 1200300]
    alone = [line.rpartition(";")[0].replace(".200.300", ".200") for line in lines]
    text, rows = rows_of(tmp_path, "nr;wage;ill\n" + "\n".join(alone) + "\n")
    assert "wage may have thousands or decimals after its points" in text
    assert [row[1] for row in rows[:2]] == ["850", "2.050"]
    plain = [line.replace("2.050", "2.05") for line in alone]
    _, rows = rows_of(tmp_path, "nr;wage;ill\n" + "\n".join(plain) + "\n")
    assert [row[1] for row in rows[:3]] == [850, 2.05, 3.1]


@pytest.mark.parametrize("end", [";;\n", ";;\n;;\n", ";;"])
def test_lines_of_separators_at_the_end_are_no_rows(tmp_path: Path, end: str) -> None:
    lines = [f"{i};{i % 7};{ILL[i % 3]}" for i in range(120)]
    _, rows = rows_of(tmp_path, "nr;age;ill\n" + "\n".join(lines) + "\n" + end)
    assert len(rows) == 120


def test_a_total_is_never_a_person(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    lines = "nr;age;ill\n" + "".join(f"{i};{i % 7};{ILL[i % 3]}\n" for i in range(120))
    file.write_text(f"{lines}Summe;360;\nMittel;3;\n")
    made = anonymizer.init(str(file), base=tmp_path)
    assert "skip_last: 2" in made.text
    policy = Policy.loads(made.text, tmp_path)
    assert anonymizer.run(policy).measures["rows"] == 120
    file.write_text(f"{lines}Summe;360;\nMittel;3;\nAnzahl;120;\n")
    with pytest.raises(SourceError, match=r"a line that adds up others.*skip_last: 3"):
        anonymizer.run(policy)
    file.write_text(f"{lines}Summe;360;\n")
    by_hand = {**policy.to_dict(), "source": {"file": "a.csv"}}
    with pytest.raises(SourceError, match=r"a line that adds up others.*skip_last: 1"):
        anonymizer.run(Policy.loads(json.dumps(by_hand), tmp_path))
    by_hand["source"] = {"file": "a.csv", "read": {"skip_last": 0}}
    by_hand["columns"] = {**by_hand["columns"], "nr": {"role": "identifier"}}
    assert anonymizer.run(Policy.loads(json.dumps(by_hand), tmp_path)).measures["rows"] == 121


def test_letters_of_another_encoding_are_refused(tmp_path: Path) -> None:
    text = "nr;ill\n" + "".join(f"{i};{('Röteln', 'Gicht')[i % 2]}\n" for i in range(120))
    file = tmp_path / "a.csv"
    file.write_bytes(text.encode("cp1252"))
    policy = Policy.loads(anonymizer.init(str(file), base=tmp_path).text, tmp_path)
    for encoding in ("utf-8", "utf-8-sig"):
        file.write_bytes(text.encode(encoding))
        with pytest.raises(SourceError, match=r"letters in utf-8, and the policy says windows-125"):
            anonymizer.run(policy)


def test_empty_columns_behind_the_last_name_are_left_out(tmp_path: Path) -> None:
    lines = [f"{i};{i % 7};{ILL[i % 3]};;" for i in range(120)]
    _, rows = rows_of(tmp_path, "nr;age;ill;;\n" + "\n".join(lines) + "\n")
    assert {len(row) for row in rows} == {3}
    file = tmp_path / "a.csv"
    file.write_text(file.read_text().replace("7;1;gout;;", "7;1;gout;x;", 1))
    file.write_text(file.read_text().replace("5;5;acne;;", "5;5;acne;x;", 1))
    with pytest.raises(SourceError, match="no name for column 4"):
        anonymizer.init(str(file), base=tmp_path)


def test_cells_of_records_mean_what_those_of_lines_do(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    rows = [
        {
            "nr": i,
            "born": f"{13 + i % 9}.03.19{50 + i % 40}",
            "ill": ILL[i % 3] if i % 7 else "n/a",
            "rent": "n/a" if i % 11 == 0 else 12.5 + i % 7,
            "zip": f"0{1067 + i % 4}",
        }
        for i in range(120)
    ]
    file.write_text(json.dumps(rows))
    made = anonymizer.init(str(file), base=tmp_path)
    policy = Policy.loads(made.text, tmp_path)
    with open_session(policy, None) as session:
        found = session.engine.raw(f"select * from {session.source.sql} order by nr", "source")
    assert found[0][1:] == (dt.date(1950, 3, 13), None, None, "01067")
    assert found[1][1:] == (dt.date(1951, 3, 14), ILL[1], 13.5, "01068")
    anonymizer.run(policy)
    rows[5]["born"] = "31.02.1960"
    file.write_text(json.dumps(rows))
    with pytest.raises(SourceError, match=r"types\.born: is date, and 1 cell is none"):
        anonymizer.run(policy)


CITIES = {
    "windows-1252": ("Köln", "Düren", "Münster", "Übelkeit"),
    "windows-1250": ("Łódź", "Kraków", "Gdańsk", "Wrocław"),
    "windows-1251": ("Москва", "Казань", "Омск", "Пермь"),
    "mac-roman": ("Orléans", "Nîmes", "Besançon", "Évreux"),
    "shift-jis": ("東京", "大阪", "京都", "名古屋"),
    "gb18030": ("北京", "上海", "广州", "深圳"),
    "utf-16-le": ("Köln", "Düren", "Münster", "Bonn"),
    "utf-16-be": ("Köln", "Düren", "Münster", "Bonn"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", CITIES)
def test_letters_are_those_of_their_encoding(tmp_path: Path, encoding: str, packed: bool) -> None:
    lines = [f"{i};{city}" for i in range(120) for city in CITIES[encoding]]
    raw = ("nr;ort\n" + "\n".join(lines) + "\n").encode(ENCODINGS[encoding])
    file = tmp_path / ("a.csv.gz" if packed else "a.csv")
    file.write_bytes(gzip.compress(raw) if packed else raw)
    assert encoding_of(file) == encoding


def test_a_sheet_of_formulas_without_values_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["nr", "age"])
    for i in range(60):
        book.active.append([i, f"=A{i + 2} + 1"])
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(SourceError, match="has formulas without their values"):
        anonymizer.init(str(tmp_path / "a.xlsx"), base=tmp_path)


def test_an_empty_first_sheet_names_the_others(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_sheet("Data").append(["nr", "age"])
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(SourceError, match=r"first sheet is empty.*sheet: Data"):
        anonymizer.init(str(tmp_path / "a.xlsx"), base=tmp_path)


def test_a_point_in_another_column_is_no_thousand(tmp_path: Path) -> None:
    lines = [f"1.{100 + i},50;{100 + i % 5}.{i % 10};{ILL[i % 3]}" for i in range(120)]
    _, rows = rows_of(tmp_path, "rent;icd;diag\n" + "\n".join(lines) + "\n")
    assert [row[0] for row in rows] == [1000 + 100 + i + 0.5 for i in range(120)]
    assert {row[1] for row in rows} == {f"{100 + i % 5}.{i % 10}" for i in range(120)}


@pytest.mark.parametrize("cell", ["1100.50", "1,100.50", "0.5", "1.1.3,5", "5 EUR"])
def test_a_number_in_another_form_is_an_error(tmp_path: Path, cell: str) -> None:
    lines = [f"1.{100 + i},50;{ILL[i % 3]}" for i in range(120)]
    text = "rent;diag\n" + "\n".join(lines) + "\n"
    made, _ = rows_of(tmp_path, text)
    policy = Policy.loads(made, tmp_path)
    (tmp_path / "b.csv").write_text(text.replace("1.105,50", cell))
    with pytest.raises(SourceError, match=r"source\.read\.types\.rent.* in row 6"):
        anonymizer.plan(policy.with_file(tmp_path / "b.csv"))


@pytest.mark.parametrize(
    ("of", "cell"),
    [
        ("whole", "8.9"),
        ("time", "2024-05-01 10:00:00+05:00"),
        ("number", "1" * 20),
        ("boolean", "5"),
        ("date", "2024-05-01 10:00:00"),
        ("date", "24-05-01"),
    ],
)
def test_a_type_keeps_all_of_a_cell_or_refuses_it(tmp_path: Path, of: str, cell: str) -> None:
    (tmp_path / "a.csv").write_text("n,diag\n" + f"{cell},flu\n" * 30)
    source = {"file": "a.csv", "read": {"types": {"n": of}}}
    columns = {"n": {"role": "keep"}, "diag": {"role": "quasi"}}
    given = {"version": 1, "source": source, "columns": columns, "privacy": {"k_anonymity": 5}}
    policy = Policy.model_validate(given, context={"base": tmp_path})
    with pytest.raises(SourceError, match=r"source\.read\.types\.n"):
        anonymizer.plan(policy)


def test_a_total_is_left_out_and_a_row_is_not(tmp_path: Path) -> None:
    lines = [f"Firm {i};{i % 9};{ILL[i % 3]}" for i in range(120)]
    head = "firm;n;diag\n"
    for end in ("Summe;541;\n", "Yhteensä;541;\nQuelle: Amt;;\n;;\n"):
        text, rows = rows_of(tmp_path, head + "\n".join(lines) + "\n" + end)
        assert len(rows) == 120, text
    policy = Policy.loads(text, tmp_path)
    (tmp_path / "b.csv").write_text(head + "\n".join(lines) + "\n")
    with pytest.raises(SourceError, match="looks like a row"):
        anonymizer.plan(policy.with_file(tmp_path / "b.csv"))
    _, rows = rows_of(tmp_path, head + "\n".join(lines) + "\nTotal;4;flu\n")
    assert len(rows) == 121


@pytest.mark.parametrize(
    ("left", "cut"),
    [
        ("1017;Me", True),
        ("1017;Meier;19", True),
        ("10", True),
        (";Meier;20", True),
        ("Stand: 31.05.2026", False),
        ("Erstellt am;31.05.2026", False),
        ("1017;31.05.2026", False),
        ("Ende", False),
        ("Summe;;541", False),
    ],
)
def test_a_file_that_was_cut_off_is_not_the_end_of_a_table(
    tmp_path: Path, left: str, cut: bool
) -> None:
    """Where a policy leaves out the last line, it may be half of a row that ends a damaged file."""
    rows = [
        f"{1000 + i};von Meier {'' if i % 7 else 'x'};{20 + i % 9};;{ILL[i % 3]}" for i in range(90)
    ]
    text = "\n".join(["no;name;age;note;diag", *rows, left]) + ("" if cut else "\n")
    (tmp_path / "a.csv").write_text(text)
    source = {"file": "a.csv", "read": {"delimiter": ";", "skip_last": 1}}
    roles = dict.fromkeys(("no", "name", "age", "note"), "drop") | {"diag": "quasi"}
    columns = {name: {"role": role} for name, role in roles.items()}
    given = {"version": 1, "source": source, "columns": columns, "privacy": {"k_anonymity": 5}}
    policy = Policy.model_validate(given, context={"base": tmp_path})
    if not cut:
        anonymizer.plan(policy)
        return
    with pytest.raises(
        SourceError, match=r"looks like (a row|the beginning of a row: was the file cut off\?)"
    ):
        anonymizer.plan(policy)


def test_a_row_that_begins_like_a_comment_is_a_row(tmp_path: Path) -> None:
    lines = [f"{'#' if i == 51 else ''}{i};{ILL[i % 3]}" for i in range(120)]
    _, rows = rows_of(tmp_path, "no;diag\n" + "\n".join(lines) + "\n")
    assert len(rows) == 120


def test_numbers_of_a_sheet_stay_what_they_are(tmp_path: Path) -> None:
    rows = [(100.125 + i, f"1.{100 + i},5", ILL[i % 3]) for i in range(60)]
    as_sheet(tmp_path / "a.xlsx", [("weight", "rent", "diag"), *rows])
    made = anonymizer.init(str(tmp_path / "a.xlsx"), base=tmp_path)
    with open_session(Policy.loads(made.text, tmp_path), None) as session:
        text = f"select weight, rent from {session.source.sql} order by weight"
        found = session.engine.raw(text, "source")
    assert found == [(100.125 + i, 1000 + 100 + i + 0.5) for i in range(60)]


def test_thousands_or_decimals_are_asked_for(tmp_path: Path) -> None:
    lines = [f"{1 + i % 3},{100 + i};{ILL[i % 3]}" for i in range(120)]
    text, rows = rows_of(tmp_path, "rent;diag\n" + "\n".join(lines) + "\n")
    assert "rent may have thousands or decimals" in text
    assert {str(row[0]) for row in rows} >= {"1,100"}


def test_years_of_two_digits_stay_text(tmp_path: Path) -> None:
    lines = [f"{10 + i % 9}.02.{40 + i % 50};{ILL[i % 3]}" for i in range(120)]
    _, rows = rows_of(tmp_path, "born;diag\n" + "\n".join(lines) + "\n")
    assert {type(row[0]) for row in rows} == {str}


def test_codes_like_spellings_of_unknown_are_codes(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    lands = ["DE", "NA", "FR", "US"]
    file.write_text(
        "nr,land,age\n" + "".join(f"{i},{lands[i % 4]},{20 + i % 9}\n" for i in range(80))
    )
    policy = Policy.loads(anonymizer.init(str(file), base=tmp_path).text, tmp_path)
    assert policy.source.read is None or "NA" not in policy.source.read.nulls


def test_several_files_are_one_source(tmp_path: Path) -> None:
    lines = written().splitlines(keepends=True)
    (tmp_path / "m1.csv").write_text("".join(lines[:61]))
    (tmp_path / "m2.csv").write_text("".join([lines[0], *lines[61:]]))
    made = anonymizer.init(str(tmp_path / "m?.csv"), base=tmp_path)
    policy = Policy.loads(made.text, tmp_path)
    assert len(rows_read(policy)) == ROWS
    assert (
        anonymizer.run(policy).measures["rows"] + anonymizer.run(policy).measures["suppressed"]
        == ROWS
    )
    (tmp_path / "m3.csv").write_text("nr,geboren,plz,betrag\n1,2000-01-01,01067,3.5\n")
    with pytest.raises(SourceError, match=r"in m3\.csv, another column or type than in m1\.csv"):
        anonymizer.run(policy)


def test_parts_of_a_folder_are_one_source(tmp_path: Path) -> None:
    for year in (2023, 2024):
        folder = tmp_path / "visits" / f"year={year}"
        folder.mkdir(parents=True)
        made_of = "select i as nr, 20 + i % 30 as age from range(50) t(i)"
        duckdb.execute(f"copy ({made_of}) to '{folder / 'a.parquet'}'")
    made = anonymizer.init(str(tmp_path / "visits" / "*" / "*.parquet"), base=tmp_path)
    policy = Policy.loads(made.text, tmp_path)
    assert {"nr", "age", "year"} == set(policy.columns)
    assert policy.publish.name == "visits_anonymous"


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"file": "a.parquet", "read": {"skip": 1}}, "source.read"),
        ({"table": "t", "read": {"skip": 1}}, "source.read"),
        ({"file": "a.csv", "read": {"sheet": "one"}}, "source.read.sheet"),
        ({"file": "a.csv", "read": {"encoding": "klingon"}}, "source.read.encoding"),
        ({"file": "a.csv", "read": {"dates": "day"}}, "source.read.dates"),
        ({"file": "a.csv", "read": {"delimiter": ";;"}}, "source.read.delimiter"),
        ({"file": "a.csv", "read": {"types": {"age": "int"}}}, "source.read.types.age"),
        ({"file": "a.csv", "read": {"skip": -1}}, "source.read.skip"),
    ],
)
def test_what_cannot_be_read_so_is_refused(options: dict[str, Any], path: str) -> None:
    given = {"version": 1, "source": options, "columns": {"age": {"role": "quasi"}}}
    with pytest.raises(PolicyError) as caught:
        Policy.model_validate({**given, "privacy": {"k_anonymity": 2}})
    assert [one.path for one in caught.value.problems] == [path]


def test_a_column_that_the_file_does_not_have_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(written())
    made = anonymizer.init(str(tmp_path / "a.csv"), base=tmp_path)
    source = {"file": "a.csv", "read": {"types": {"plzz": "text"}}}
    given = {**Policy.loads(made.text, tmp_path).to_dict(), "source": source}
    with pytest.raises(SourceError, match="plzz"):
        anonymizer.run(Policy.loads(json.dumps(given), tmp_path))


def test_a_file_of_data_is_no_policy(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text(written())
    with pytest.raises(PolicyError, match=r"anonymizer init \S*visits\.csv"):
        Policy.load(file)


def test_another_encoding_is_named_where_a_policy_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(written().encode("cp1252"))
    source = {"file": str(tmp_path / "a.csv"), "read": {"encoding": "utf-16"}}
    columns = {name: {"role": "drop"} for name in NAMES} | {"plz": {"role": "quasi"}}
    given = {"version": 1, "source": source, "columns": columns, "privacy": {"k_anonymity": 5}}
    with pytest.raises(AnonymizerError, match="is not text in utf-16"):
        anonymizer.plan(Policy.model_validate(given))


def test_spellings_of_unknown_are_in_lower_case() -> None:
    assert len(UNKNOWN) > 60
    assert all(one == one.lower() and one.strip() == one for one in UNKNOWN)
    assert Reading().nulls == ()
