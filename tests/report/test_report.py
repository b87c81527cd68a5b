"""What a report says, and what it must not say."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main
from anonymizer.errors import GuaranteeError
from anonymizer.measure.queries import step
from anonymizer.review.report import rendered, write_report
from anonymizer.review.report.content import QUERIES, Report, collect
from anonymizer.review.report.distributions import intervals, merged, round_bounds
from tests.report.conftest import COLUMNS, RARE, Clinic, make
from tests.selection import some


@pytest.fixture(scope="module")
def report(clinic: Clinic) -> Report:
    return collect(clinic.policy, source=clinic.source)


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return rendered(report, "html")


class Outline(HTMLParser):
    """Tags, attributes and headings of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def outline(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Outline()
    parser.feed(page)
    return parser.tags


@pytest.mark.slow
def test_every_part_is_there(page: str) -> None:
    for title in (
        "The policy in words", "Guarantees required and achieved", "before and after",
        "Class sizes", "Every column", "What it cost", "Random count queries", "Your own queries",
        "What it does not promise", "the SQL to check it",
    ):  # fmt: skip
        assert title in page
    assert "not differential privacy" in page
    assert "downcoding" in page
    assert "select count(*)" in page


def test_it_is_self_contained_and_accessible(page: str) -> None:
    tags = outline(page)
    assert not [tag for tag, _ in tags if tag in ("script", "iframe", "object", "link")[:3]]
    assert "http://" not in re.sub(r"data:[^\"']*", "", page)
    assert "https://" not in re.sub(r"data:[^\"']*", "", page)
    images = [a for tag, a in tags if tag == "img"]
    assert len(images) >= 2 + 6
    assert all((a["src"] or "").startswith("data:image/svg+xml") for a in images)
    assert all(len(a.get("alt") or "") > 30 for a in images)
    levels = [int(tag[1]) for tag, _ in tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert [a["lang"] for tag, a in tags if tag == "html"] == ["en"]
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert all("scope" in a for tag, a in tags if tag == "th")


@some(2)
@pytest.mark.parametrize("form", ["html", "md", "json"])
@pytest.mark.parametrize("with_source", [True, False])
def test_nothing_is_shown_that_few_have(
    clinic: Clinic, report: Report, form: str, with_source: bool
) -> None:
    import base64

    found = report if with_source else collect(clinic.policy)
    text = rendered(found, form)
    pictures = re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", text)
    assert (len(pictures) > 5) == (form == "html")
    shown = text + "".join(base64.b64decode(picture).decode() for picture in pictures)
    for value in RARE:
        assert value not in shown
    # what many have is there: the test looks at the right places
    assert "south" in shown
    assert "flu" in shown


def test_shares_are_right(clinic: Clinic, report: Report) -> None:
    by_name = {found.column: found for found in report.distributions}
    disease = {bar.label: bar for bar in by_name["disease"].bars}
    with duckdb.connect(str(clinic.source), read_only=True) as connection:
        counts = dict(
            connection.execute("select disease, count(*) from visits group by 1").fetchall()
        )
    assert set(disease) == {"flu", "cold", "hiv", "gout"}
    for name, bar in disease.items():
        assert bar.before == bar.after == round(counts[name] / 400, 2)
    town = by_name["town"]
    assert sum(bar.before or 0 for bar in town.bars) == pytest.approx(1, abs=0.03)
    assert sum(bar.after or 0 for bar in town.bars) == pytest.approx(1, abs=0.03)
    assert town.distance is not None
    assert 0 <= town.distance < 1
    age = by_name["age"]
    assert all(bar.before is None or bar.before >= 5 / 400 or bar.before < 0.01 for bar in age.bars)
    assert sum(bar.after or 0 for bar in age.bars) == pytest.approx(1, abs=0.05)
    assert by_name["admitted"].bars[0].label.startswith("below 2020-")


@pytest.mark.slow
def test_risk_before_and_after(report: Report) -> None:
    assert report.before is not None
    assert report.before.sizes.uniques > 200
    assert report.after.sizes.uniques == 0
    assert report.after.sizes.k is not None
    assert report.after.sizes.k >= 5
    data = report.as_dict()
    json.dumps(data, default=str)
    assert data["risk"]["before"]["prosecutor_max"] == 1.0
    assert data["risk"]["after"]["prosecutor_max"] <= 0.2
    assert data["query_error"]["queries"] == QUERIES


def test_own_queries_have_errors(report: Report) -> None:
    by_group, mean, broken = report.workload
    assert by_group.groups == 3  # a town of two people is left out
    assert by_group.problem is None
    steps = {step(error / 1000) for error in range(1000)}
    assert by_group.total_error in steps
    assert mean.mean_error in steps - {step(0.5)}
    assert broken.problem is not None
    assert "nonsense" not in broken.problem


@pytest.mark.slow
def test_exact_release_has_no_error(tmp_path: Path) -> None:
    """Every row five times: nothing is generalized, so that every query has its true answer."""
    source = tmp_path / "five.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(
            "create schema s; create table s.t as select r % 7 as a, 'v' || r % 3 as b,"
            " date '2020-01-01' + cast(r % 4 as integer) as d from range(100) g(r), range(5)"
        )
    policy = {
        "version": 1,
        "source": {"table": "s.t"},
        "columns": {name: {"role": "quasi"} for name in "abd"},
        "privacy": {"k_anonymity": 5},
        "workload": {"sql": ["select a, count(*) from s.t group by all",
                             "select sum(a) from t", "select avg(year(d)) from s.t",
                             "select a, b, d, count(*) from s.t group by all",
                             "select max(a) from s.t"]},
        "publish": {"database": "r.duckdb"},
    }  # fmt: skip
    (tmp_path / "p.yml").write_text(json.dumps(policy))
    loaded = anonymizer.Policy.load(tmp_path / "p.yml")
    anonymizer.run(loaded, source, seed=1)
    found = collect(loaded, source=source)
    answered, (small, single) = found.workload[:3], found.workload[3:]
    assert {a.problem for a in answered} == {None}
    assert {(a.total_error, a.mean_error) for a in answered} == {("< 1 %", "< 1 %")}
    assert small.problem == "is based on fewer than 50 rows"
    assert "number of rows" in str(single.problem)
    assert found.counts is not None
    assert found.counts.mean == "< 1 %"
    assert all(d.distance == 0 for d in found.distributions)


@pytest.mark.slow
def test_the_command(clinic: Clinic, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: object) -> int:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        return int(ended.value.code or 0)

    policy, target = clinic.folder / "policy.yml", clinic.folder / "out.md"
    assert run("report", policy, "--format", "json") == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert data["passed"] is True
    assert data["risk"]["before"] is None
    assert run("report", policy, "--source", clinic.source, "-o", target) == 0
    assert "| town |" not in target.read_text()
    assert "`town`" in target.read_text()
    assert run("report", policy, "-o", clinic.folder / "out.odt") == 2
    assert run("report", policy, "--database", clinic.folder / "none.duckdb") == 2


@pytest.mark.slow
def test_a_release_that_was_changed_is_not_hidden(tmp_path: Path) -> None:
    changed = make(tmp_path)
    with duckdb.connect(str(tmp_path / "release.duckdb")) as connection:
        connection.execute("create table some_rows as from released limit 2")
        connection.execute("drop view released; create view released as from some_rows")
    with pytest.raises(
        GuaranteeError, match="the view released is not defined as it was published"
    ):
        write_report(changed.policy, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
    with pytest.raises(SystemExit) as ended:
        main(["report", str(tmp_path / "policy.yml"), "-o", str(tmp_path / "r.html")])
    assert ended.value.code == 1


@pytest.mark.slow
def test_typed_cells_and_notebooks(tmp_path: Path) -> None:
    columns = {**COLUMNS, "age": {"role": "quasi"}}
    publish = {"name": "released", "database": "release.duckdb", "cells": "typed"}
    typed = make(tmp_path, columns=columns, publish=publish)
    for source in (typed.source, None):
        found = collect(typed.policy, source=source)
        assert {d.column for d in found.distributions} >= {"age", "town", "admitted", "disease"}
        assert not any(value in rendered(found, "md") for value in RARE)
    shown = typed.release._repr_html_()
    assert "k_anonymity" in shown
    assert "Person-" not in shown
    assert "<script" not in shown


@pytest.mark.slow
def test_distances_of_tiny_and_of_huge_numbers(tmp_path: Path) -> None:
    """They do not depend on the unit that a column is measured in."""
    found = []
    for unit in ("1", "1e-200", "1e200"):
        folder = tmp_path / unit
        folder.mkdir()
        with duckdb.connect(str(folder / "source.duckdb")) as connection:
            rows = f"select (i % 20 + 0.5) * {unit}::double as x from range(90) r(i)"
            connection.execute(f"create table t as {rows}")
        text = (
            "version: 1\nsource: {table: t}\ncolumns: {x: {role: quasi}}\n"
            "privacy: {k_anonymity: 10}\npublish: {name: o, database: o.duckdb}"
        )
        given = anonymizer.Policy.loads(text, folder)
        anonymizer.run(given, folder / "source.duckdb", seed="1" * 64)
        (one,) = collect(given, source=str(folder / "source.duckdb")).distributions
        found.append((one.distance, one.below))
    assert found == [found[0]] * 3
    assert found[0][0]


@pytest.mark.parametrize(
    ("low", "high", "first", "last"),
    [
        *((-1e308, 1e308, -1e308, 1e308), (-1.7e308, 1.7e308, -1.5e308, 1.5e308)),
        *((0.0, 5e-324, 0.0, 5e-324), (0.0, 1e-322, 0.0, 1e-322), (-2.51, -2.5, -2.51, -2.5)),
    ],
)
def test_bins_of_all_doubles(low: float, high: float, first: float, last: float) -> None:
    bounds = round_bounds(low, high, False)
    assert (bounds[0], bounds[-1]) == (first, last)
    assert bounds == sorted(set(bounds))
    assert len(bounds) <= 12
    assert all(len(one.label) < 50 for one in intervals(bounds, False, False))


def test_bins() -> None:
    assert round_bounds(0, 100, True) == [float(x) for x in range(0, 101, 10)]
    assert round_bounds(3, 5, True) == [3.0, 4.0, 5.0]
    assert round_bounds(0.0, 1.0, False)[:3] == [0.0, 0.1, 0.2]
    assert round_bounds(4, 4, False) == [4]
    assert merged([10, 20, 30], [5, 5, 5, 5], 5) == [10, 20, 30]
    assert merged([10, 20, 30], [2, 5, 5, 2], 5) == [20]
    assert merged([10], [1, 1], 5) == []
    assert [i.label for i in intervals([10, 11, 20], True, False)] == [
        "below 10", "10", "11 – 19", "20 or more",
    ]  # fmt: skip
    assert intervals([], True, False)[0].label == "all"
