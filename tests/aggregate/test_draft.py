"""A policy of counts drafted from the query that makes the table today."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import SourceError
from anonymizer.policy import Policy
from anonymizer.run import verbs

QUERIES: dict[str, tuple[str, Any, Any, int]] = {
    "cube": ("select r, c, count(*) from t group by cube(r, c)", "all", {"rows": "rows"}, 5),
    "groups": ("select r, c, count(*) as n from t group by r, c", "none", {"n": "rows"}, 5),
    "all": ("from t select r, count(*) as n group by all", "none", {"n": "rows"}, 5),
    "numbers": ("select r, c, count(*) as n from t group by 1, 2", "none", {"n": "rows"}, 5),
    "rollup": (
        "select r, c, count(*) as n from t group by rollup(r, c)",
        (("r", "c"), ("r",), ()),
        {"n": "rows"},
        5,
    ),
    "sets": (
        "select r, c, count(*) as n from t group by grouping sets ((r, c), (c), ())",
        (("r", "c"), ("c",), ()),
        {"n": "rows"},
        5,
    ),
    "having": (
        "select r, count(*) as n from t group by r having count(*) > 9",
        "none",
        {"n": "rows"},
        10,
    ),
    "blanks": (
        "select r, case when count(*) >= 7 then count(*) end as n from t group by r",
        "none",
        {"n": "rows"},
        7,
    ),
    "persons": (
        "select r, count(distinct p) as who, avg(x) from t where x > 1 group by cube(r)",
        "all",
        {"who": "persons"},
        5,
    ),
    "expressions": (
        "select upper(r) as region, x // 10 as band, count(*) as n from t as a"
        " join t as b using (p, r, c, x) group by region, band",
        "none",
        {"n": "rows"},
        5,
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_becomes_a_policy_that_runs(tmp_path: Path, name: str) -> None:
    query, margins, measures, minimum = QUERIES[name]
    with duckdb.connect(str(tmp_path / "t.duckdb")) as con:
        con.execute(
            "create table t as select 'r' || i % 3 as r, 'c' || i % 2 as c, i as p, i % 40 as x"
            " from range(300) as s (i)"
        )
    draft = anonymizer.init(query)
    made: Any = Policy.loads(draft.text, tmp_path)
    assert made.aggregate.margins == margins
    assert {n: of.count for n, of in made.aggregate.measures.items()} == measures
    assert made.minimum == minimum
    release = verbs.run(made, tmp_path / "t.duckdb", seed=1)
    assert release.measures["rows"] > 1


def test_a_file_is_the_source() -> None:
    assert (
        'source: {file: "visits.csv"}'
        in anonymizer.init("select r, count(*) from 'visits.csv' group by r").text
    )


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select 1", "has no groups"),
        ("select count(*) from t", "has no groups"),
        ("select r, row_number() over () from t group by r", "has window functions"),
        ("select r from t group by r limit 3", "has `limit`"),
        ("select from where", "cannot be read"),
        ("select 1 from t group by upper(r)", "groups by an expression without a name"),
    ],
)
def test_other_queries_are_refused(query: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        anonymizer.init(query)


def test_single_values_are_left_out() -> None:
    text = anonymizer.init("select r, max(x), count(*) as n from t group by r").text
    assert "# MAX(x): shows values of single persons" in text


def test_sums(tmp_path: Path) -> None:
    """A sum becomes a measure, with a rule; a mean is left to a ratio."""
    query = (
        "select r, count(distinct person) as n, count(*) as visits, sum(cost) as cost,"
        " avg(cost), sum(cost * 2) from t group by cube(r)"
    )
    draft = anonymizer.init(query)
    made: Any = Policy.loads(draft.text, tmp_path)
    assert made.protect.dominance.p == 10
    assert {name: of.sum for name, of in made.aggregate.measures.items()} == {
        "n": None,
        "visits": None,
        "cost": "cost",
    }
    assert "ratio: [SUM, COUNT]" in draft.text
    assert "a sum of no plain column" in draft.text
    with duckdb.connect(str(tmp_path / "t.duckdb")) as con:
        con.execute(
            "create table t as select 'r' || i % 3 as r, 'p' || i as person, i % 7 as cost"
            " from range(90) as s (i)"
        )
    assert verbs.run(made, tmp_path / "t.duckdb").verification.passed
