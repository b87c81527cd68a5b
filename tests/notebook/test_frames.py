"""Frames go in, and frames of the same kind come out."""

from __future__ import annotations

import datetime as dt
import gc
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anonymizer
from anonymizer import AnonymizerError, Policy
from tests.runs import THRIFTY
from tests.selection import some

ROWS = 60
DAY = dt.date(2024, 5, 1)


def people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": range(ROWS),
            "age": [20 + i * 7 % 23 for i in range(ROWS)],
            "zip": pd.Categorical([f"8{i % 4}1" for i in range(ROWS)]),
            "born": pd.to_datetime([f"19{60 + i % 30}-01-05" for i in range(ROWS)]),
            "ill": [("flu", "cold", None, "gout")[i % 4] for i in range(ROWS)],
            "name": [f"secret {i}" for i in range(ROWS)],
        }
    )


def checked(frame: Any, release: Any) -> None:
    rows = pd.DataFrame(frame)
    assert len(rows) == ROWS
    assert set(rows.columns) == {"class_id", "age", "zip", "born", "ill"}
    assert not rows.to_csv().count("secret")
    assert rows.groupby(["age", "zip", "born"], dropna=False).size().min() >= 4
    assert rows.groupby("class_id")["ill"].nunique().min() >= 2
    assert release.verification.passed


def asked(frame: Any) -> Any:
    return anonymizer.anonymize(
        frame,
        ["age", "zip", "born"],
        {"ill": {"l_diversity": 2}},
        k=4,
        seed=1,
        limits=THRIFTY,
    )


def test_pandas() -> None:
    frame, release = asked(people())
    assert isinstance(frame, pd.DataFrame)
    checked(frame, release)


@pytest.mark.notebook
def test_polars_and_arrow() -> None:
    import polars as pl
    import pyarrow as pa

    source = pl.from_pandas(people())
    for given, kind in (
        (source, pl.DataFrame),
        (source.lazy(), pl.DataFrame),
        (pa.Table.from_pandas(people()), pa.Table),
        (pa.RecordBatch.from_pandas(people()), pa.Table),
    ):
        frame, release = asked(given)
        assert isinstance(frame, kind)
        checked(frame.to_pandas(), release)


def test_polars_without_pyarrow_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = type("DataFrame", (), {"__module__": "polars.dataframe.frame"})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(AnonymizerError, match=r"^frame: .* pyarrow.*hint: pip install pyarrow"):
        anonymizer.anonymize(frame(), ["age"])


@pytest.mark.slow
def test_a_frame_stands_for_the_table_of_a_policy() -> None:
    roles = {"id": "identifier", "age": "quasi", "zip": "quasi"}
    policy = Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "visits"},
            "columns": {name: {"role": roles.get(name, "drop")} for name in people().columns},
            "privacy": {"k_anonymity": 5},
        }
    )
    planned = repr(anonymizer.plan(policy, people()))
    assert "over 60 rows" in planned
    assert "checks that stop a run" in planned
    release = anonymizer.run(policy, people(), seed=1, limits=THRIFTY)
    assert release.df().groupby(["age", "zip"]).size().min() >= 5
    assert anonymizer.compare(policy, people(), vary=["k=2,5"], limits=THRIFTY)[0].holds


@pytest.mark.slow
def test_every_verb_is_a_function_that_takes_a_frame(tmp_path: Path) -> None:
    assert anonymizer.assess(people(), quasi=["age", "zip"], limits=THRIFTY).sizes.rows == ROWS
    assert "role: identifier" in anonymizer.init(people(), limits=THRIFTY).text
    named = anonymizer.init("visits", people(), limits=THRIFTY).text
    assert "source: {table: visits}" in named
    drafted = Policy.loads(named, tmp_path)
    assert anonymizer.run(drafted, people(), limits=THRIFTY).verification.passed
    for name in ("assess", "attack", "init", "plan", "report", "run", "compare", "verify"):
        assert callable(getattr(anonymizer, name))
        assert name in dir(anonymizer)


def test_results_are_short_in_a_terminal_and_bars_in_a_notebook() -> None:
    _, release = asked(people())
    assessed = anonymizer.assess(people(), quasi=["age", "zip"], sensitive=["ill"], limits=THRIFTY)
    for shown in (release, release.verification, assessed):
        assert len(repr(shown).splitlines()) <= 10
        assert "select" not in repr(shown)
        assert "<table" in shown._repr_html_()
        assert "secret" not in repr(shown) + shown._repr_html_()
    assert "width: " in assessed._repr_html_()


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no such column": (
        lambda: anonymizer.anonymize(people(), ["agee"]),
        "quasi: agee is no column of the frame (allowed: id, age, zip, born, ill, name; hint: did"
        " you mean age?)",
    ),
    "twice": (
        lambda: anonymizer.anonymize(people(), ["age"], ["age"]),
        "sensitive: age is named as quasi as well",
    ),
    "no frame": (lambda: anonymizer.anonymize([1], ["age"]), "is of type list, and not a frame"),
    "no database": (
        lambda: anonymizer.assess("visits", [1]),
        "database: is of type list, and not a database",
    ),
    "options beside a frame": (
        lambda: anonymizer.assess(people(), ["age", "zip"]),
        "database: is given beside a frame, which is a table of no database (hint: name every"
        " option, such as quasi=['age', 'zip'])",
    ),
    "a draft with options beside a frame": (
        lambda: anonymizer.init(people(), ["age", "zip"]),
        "database: is given beside a frame, which is a table of no database (hint: name every"
        " option: base, limits)",
    ),
    "a key that the frame gives": (
        lambda: anonymizer.anonymize(people(), ["age"], columns={"age": {"role": "keep"}}),
        "columns: is no key of a policy for a frame",
    ),
    "another source": (
        lambda: anonymizer.anonymize(people(), ["age"], source={"file": "others.csv"}),
        "source: is no key of a policy for a frame",
    ),
    "privacy that is none": (
        lambda: anonymizer.anonymize(people(), ["age"], privacy="x"),
        "privacy: must be",
    ),
    "publish that is none": (
        lambda: anonymizer.anonymize(people(), ["age"], publish="x"),
        "publish: must be",
    ),
    "no algorithm": (
        lambda: anonymizer.anonymize(people(), ["age"], algorithm=None),  # type: ignore[arg-type]
        "algorithm: must be",
    ),
    "no columns": (
        lambda: anonymizer.anonymize(people(), None),  # type: ignore[arg-type]
        "quasi: is no list of columns",
    ),
    "a rule that is none": (
        lambda: anonymizer.anonymize(people(), ["age"], {"ill": "x"}),  # type: ignore[dict-item]
        "sensitive.ill: is no mapping of options",
    ),
    "no secret": (
        lambda: anonymizer.anonymize(people(), ["age"], seed="x"),
        "seed: is not a secret",
    ),
    "no columns at all": (
        lambda: anonymizer.anonymize(pd.DataFrame(), ["age"]),
        "frame: has no columns",
    ),
    "a column of no type": (
        lambda: anonymizer.anonymize(people().assign(cut=pd.cut(range(ROWS), 3)), ["age"]),
        "frame: columns cut cannot be read",
    ),
    "columns without a name and of no type": (
        lambda: anonymizer.anonymize(
            people().assign(**{"": pd.cut(range(ROWS), 3), " ": pd.cut(range(ROWS), 3)}), ["age"]
        ),
        "frame: columns 7 (without a name), 8 (without a name) cannot be read",
    ),
    "a column without values": (
        lambda: anonymizer.anonymize(people().assign(age=[None] * ROWS), ["age"]),
        "columns.age: has no value, and so no type",
    ),
    "a column that is the index": (
        lambda: anonymizer.anonymize(people().set_index(["zip", "age"]), ["age"]),
        "hint: age is an index: frame.reset_index() makes a column of it",
    ),
    "no such person": (
        lambda: anonymizer.anonymize(people(), ["age"], person="idd"),
        "person: idd is no column of the frame",
    ),
    "no such identifier": (
        lambda: anonymizer.anonymize(people(), ["age"], identifiers=["nam"]),
        "identifiers: nam is no column of the frame",
    ),
    "values of several types": (
        lambda: anonymizer.anonymize(people().assign(cut=[*range(ROWS - 1), True]), ["cut"]),
        "frame: columns cut have values that cannot be read, or that are of several types",
    ),
    "dates among numbers": (
        lambda: anonymizer.anonymize(people().assign(cut=[*range(ROWS - 1), DAY]), ["cut"]),
        "frame: columns cut have values that cannot be read, or that are of several types",
    ),
    "half a sign": (
        lambda: anonymizer.anonymize(
            people().assign(cut=pd.Series(["\ud800"] * ROWS, dtype=object)), ["cut"]
        ),
        "frame: columns cut have values that cannot be read",
    ),
    "an infinite number": (
        lambda: anonymizer.anonymize(people().assign(age=float("inf")), ["age"]),
        "hint: make them NULL in the frame",
    ),
    "repeated": (
        lambda: anonymizer.anonymize(pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a"]),
        "frame: has several columns named a",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_by_parameter(name: str) -> None:
    call, said = WRONG[name]
    with pytest.raises(AnonymizerError) as error:
        call()
    assert said in str(error.value)


def test_columns_may_be_named_by_numbers_and_have_no_options() -> None:
    frame = pd.DataFrame([[i % 3, i % 2] for i in range(ROWS)])
    rows, _ = anonymizer.anonymize(frame, [0], {1: None}, limits=THRIFTY)  # type: ignore[list-item,dict-item]
    assert set(rows.columns) == {"class_id", "0", "1"}


@some(2)
@pytest.mark.parametrize("vary", ["k=2,4", ["k=2,4"], {"k": [2, 4]}, {"k": range(2, 5, 2)}])
def test_options_to_vary_as_a_text_a_list_or_a_mapping(vary: Any) -> None:
    policy = Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "people"},
            "columns": {"age": {"role": "quasi"}},
            "privacy": {"k_anonymity": 3},
        }
    )
    frame = pd.DataFrame({"age": [20 + i % 9 for i in range(90)]})
    found = anonymizer.compare(policy, frame, vary=vary)
    assert [point.options for point in found] == [{"k": "2"}, {"k": "4"}]


@pytest.mark.notebook
def test_names_of_arrow_columns_are_compared_and_not_their_values() -> None:
    import pyarrow as pa

    values = [1234, 5678] * 30
    rows, _ = anonymizer.anonymize(
        pa.table({"age": values, "zip": values}), ["age", "zip"], limits=THRIFTY
    )
    assert rows.schema.names == ["class_id", "age", "zip"]
    twice = pa.Table.from_arrays([pa.array(values), pa.array(values[::-1])], names=["age", "age"])
    with pytest.raises(AnonymizerError, match=r"several columns named age$") as error:
        anonymizer.anonymize(twice, ["age"])
    assert "1234" not in str(error.value)


def reachable(release: Any) -> set[str]:
    """The tables and views that a holder of the release reads through its connection."""
    relation = release.relation()
    tables = relation.query("r", "select table_name from duckdb_tables()").fetchall()
    views = "select view_name from duckdb_views() where not internal and view_name <> 'r'"
    return {name for (name,) in tables + relation.query("r", views).fetchall()}


@pytest.mark.slow
def test_a_release_does_not_lead_to_the_frame() -> None:
    policy = Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "visits"},
            "columns": {
                name: {"role": "quasi" if name == "age" else "drop"} for name in people().columns
            },
            "privacy": {"k_anonymity": 2},
        }
    )
    given = people()
    kept = weakref.ref(given)
    release = anonymizer.run(policy, given, seed=1, limits=THRIFTY)
    del given
    gc.collect()
    assert kept() is None
    assert "visits_anonymous" in reachable(release)
    assert "visits" not in reachable(release)
    assert not any("raw table" in warning for warning in release.warnings)
    _, other = asked(people())
    assert "frame" not in reachable(other)
    assert not any("raw table" in warning for warning in other.warnings)


def test_a_connection_that_was_refused_can_be_used_again() -> None:
    import duckdb

    policy = Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "visits"},
            "columns": {"age": {"role": "quasi"}},
            "privacy": {"k_anonymity": 2},
        }
    )
    with duckdb.connect() as connection:
        with pytest.raises(AnonymizerError):
            anonymizer.run(policy, connection, seed="x")
        connection.register("visits", people()[["age"]])
        connection.unregister("visits")
