"""An exported hierarchy is read back the same: every builder over every type, as file and table."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer import Policy
from anonymizer.compile import Table
from anonymizer.review.hierarchies import Wide, built, read_csv, store
from tests.selection import some

ODD = [
    "",
    " ",
    "*",
    "**",
    "a;b",
    'say "x"',
    "a\rb",
    "\r",
    "a\nb",
    "\r\n",
    "\ufeff",
    "\ufeffa",
    "\t",
]
ODD += [
    "NULL",
    "{a, b}",
    "a or NULL",
    "e\u0301",
    "👩\u200d🚀",
    "[1, 2]",
    "1-2",
    "12",
    "-3",
    "'",
    ",",
]
TEXTS = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=5),
)
DAYS = st.dates(datetime.date(1890, 1, 1), datetime.date(2090, 1, 1))
TIMES = st.datetimes(datetime.datetime(1890, 1, 1), datetime.datetime(2090, 1, 1))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "VARCHAR": TEXTS,
    "BOOLEAN": st.booleans(),
    "UUID": st.uuids().map(str),
    "TIME": st.times().map(str),
    "TINYINT": st.integers(-128, 127),
    "INTEGER": st.one_of(st.integers(-50, 50), st.integers(-(2**31), 2**31 - 1)),
    "BIGINT": st.one_of(st.sampled_from([0, 5, 99_999]), st.integers(0, 10**15)),
    "HUGEINT": st.integers(-(10**17), 10**17),
    "DECIMAL(9,2)": st.decimals(-1000, 1000, places=2).map(str),
    "DOUBLE": st.floats(-1e6, 1e6),
    "FLOAT": st.floats(-1e6, 1e6, width=32),
    "DATE": DAYS.map(str),
    "TIMESTAMP": TIMES.map(str),
    "TIMESTAMPTZ": TIMES.map(lambda at: f"{at}+00"),
}
NUMBERS = {"TINYINT", "INTEGER", "BIGINT", "HUGEINT", "DECIMAL(9,2)", "DOUBLE", "FLOAT"}
DATES = {"DATE", "TIMESTAMP", "TIMESTAMPTZ"}
ANY: list[dict[str, Any]] = [{"builder": name} for name in ("prefix", "suffix", "frequency")]
ORDERED: list[dict[str, Any]] = [
    {"builder": name} for name in ("conventional", "cardinality", "on_the_fly")
]
# wide enough that a random domain has no more cells than are allowed
WIDTH = {"BIGINT": 10**10, "HUGEINT": 10**12, "INTEGER": 10**5}
DIVISORS = [10, 30, 70]
SURROGATES = re.compile(r"\\ud[89ab]..\\ud[c-f]..")


def specs(sql_type: str) -> Iterator[dict[str, Any]]:
    """Options of every builder that the type may have; the values are to be filled in of some."""
    yield from ANY
    yield {"builder": "prefix", "lengths": [4, 1]}
    yield {"builder": "order", "values": []}
    if sql_type in NUMBERS | DATES:
        yield from ORDERED
        yield {"builder": "intervals", "cuts": []}
        scale = WIDTH.get(sql_type, 1) if sql_type not in DATES else 1
        yield {"builder": "divisor", "divisors": [scale * 10, scale * 50]}
        independent = [scale * each for each in DIVISORS]
        yield {"builder": "divisor", "mode": "independent", "divisors": independent}
    if sql_type in DATES:
        yield {"builder": "date"}


CASES = [(sql_type, json.dumps(spec)) for sql_type in VALUES for spec in specs(sql_type)]


def policy(hierarchy: dict[str, Any], folder: Path) -> Policy:
    said = {
        "version": 1,
        "source": {"table": "t"},
        "columns": {"x": {"role": "quasi", "hierarchy": hierarchy}},
        "privacy": {"k_anonymity": 2},
        "algorithm": {"name": "full_domain"},
        "publish": {"name": "o", "database": "o.duckdb"},
    }
    # in YAML a character beyond 16 bits is one escape, in JSON two
    text = SURROGATES.sub(
        lambda pair: f"\\U{ord(json.loads(chr(34) + pair[0] + chr(34))):08x}", json.dumps(said)
    )
    return Policy.loads(text, folder)


def wide(hierarchy: dict[str, Any], folder: Path, csv: Path | None = None) -> Wide:
    with built(policy(hierarchy, folder), folder / "t.duckdb") as made:
        if csv is not None:
            made[0].to_csv(csv)
        return made[0].wide()


def labels(found: Wide) -> dict[str | None, tuple[str | None, ...]]:
    """Per value its labels from level 1 up, without the bounds of intervals."""
    levels = [at for at, (name, _) in enumerate(found.columns) if name.startswith("level_")]
    return {row[0]: tuple(row[at] for at in levels) for row in found.rows}


def go_round(sql_type: str, spec: dict[str, Any], values: list[Any]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with duckdb.connect(str(folder / "t.duckdb"), config={"threads": 1}) as connection:
            connection.execute(f"create table t (x {sql_type})")
            connection.executemany("insert into t values (?)", [[value] for value in values])
            known = connection.execute("select distinct x::varchar from t order by t.x").fetchall()
        spec = dict(spec)
        if spec["builder"] == "order":
            spec["values"] = [row[0] for row in known]
        if spec["builder"] == "intervals":
            plain = [float(v) if sql_type in NUMBERS else str(v) for v in values]
            whole = "DECIMAL" not in sql_type and sql_type not in {"DOUBLE", "FLOAT"}
            cuts = sorted(int(v) if sql_type in NUMBERS and whole else v for v in plain)
            spec["cuts"] = [cuts[0], *([cuts[-1]] if cuts[-1] != cuts[0] else [])]
        first = wide(spec, folder, folder / "x.csv")
        nested = {} if spec.get("mode") != "independent" else {"nested": False}
        again = wide({"file": "x.csv", **nested}, folder)
        assert labels(again) == labels(first)
        store(first, folder / "t.duckdb", Table("tree", None))
        assert labels(wide({"table": "tree", **nested}, folder)) == labels(first)
        read = read_csv(folder / "x.csv", nested=not nested)
        store(read, folder / "t.duckdb", Table("other", None))
        assert labels(wide({"table": "other", **nested}, folder)) == labels(first)


def one_round(sql_type: str, spec: str, examples: int) -> None:
    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(st.lists(VALUES[sql_type], min_size=1, max_size=12))
    def rounds(values: list[Any]) -> None:
        go_round(sql_type, json.loads(spec), values)

    rounds()


@pytest.mark.slow
@some(1, 8)
@pytest.mark.parametrize(("sql_type", "spec"), CASES)
def test_every_builder_over_every_type_goes_round(sql_type: str, spec: str) -> None:
    one_round(sql_type, spec, 2)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("sql_type", "spec"), CASES)
def test_many_tables_go_round(sql_type: str, spec: str) -> None:
    one_round(sql_type, spec, 40)


@pytest.mark.slow
def test_odd_texts_go_round() -> None:
    for spec in (*ANY, {"builder": "prefix", "step": 2}, {"builder": "order", "values": []}):
        go_round("VARCHAR", spec, ODD)
        for first in ("\ufeffa", "a\rb", ""):
            go_round("VARCHAR", spec, [first, "b", "c"])
