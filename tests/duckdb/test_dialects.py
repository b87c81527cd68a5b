"""Every statement of the frozen corpus has a form in the SQL of the engines that have the case."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.errors import TemplateError
from tests.duckdb.dialects import CASES, DIALECTS, Recorded, has_all_of, record
from tests.frozen import corpus
from tests.selection import some


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus.make_template(tmp_path_factory.mktemp("dialects") / "source.duckdb")


@some(6, 30)
@pytest.mark.parametrize("engine", DIALECTS)
@pytest.mark.parametrize("name", CASES)
def test_a_case(engine: str, name: str, template: Path, tmp_path: Path) -> None:
    made = Recorded(engine)
    database = corpus.prepare(tmp_path, template)
    if has_all_of(engine, name, tmp_path):
        record(made, name, tmp_path, database)
    assert made.problems() == []


@pytest.mark.parametrize(("engine", "size"), [("postgres", "CARDINALITY"), ("spark", "SIZE")])
def test_lengths_of_lists_and_of_texts(engine: str, size: str) -> None:
    """By the word of the template, whatever the names of the columns."""
    text = "select len(cell1) as a, length(cell1) as b, len(x) as c, 'len(x)' as d from t"
    (made,) = DIALECTS[engine].translate(text)
    listed = f"{size}(cell1) AS a, LENGTH(cell1) AS b, {size}(x) AS c, 'len(x)' AS d"
    assert listed.lower() in made.lower()


@pytest.mark.parametrize("unit", ["day", "month", "year", "second"])
def test_no_units_of_time_are_counted_on_spark(unit: str) -> None:
    with pytest.raises(TemplateError, match="DateDiff"):
        DIALECTS["spark"].translate(f"select date_diff('{unit}', a, b) from t")
