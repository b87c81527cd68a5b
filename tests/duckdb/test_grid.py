"""Bounds on a public grid: what is published, that it proves no record, and that it is verified."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.compile import Table
from anonymizer.errors import GuaranteeError, PolicyError, SourceError
from anonymizer.independent import judge
from anonymizer.policy import Policy
from anonymizer.verification.release import verify_release

TYPES: dict[str, tuple[str, Any]] = {
    "integer": ("cast((i * 7919) % 100003 - 500 as integer)", None),
    "negative": ("cast(-((i * 7919) % 2000) as bigint)", None),
    "tiny": ("cast(i % 256 - 128 as tinyint)", None),
    "unsigned": ("cast(i * 4099151 as uinteger)", None),
    "huge": ("cast(i as hugeint) * 100000000000000000000", None),
    "decimal": ("cast((i % 401) / 7.0 - 20 as decimal(9, 2))", {"step": 0.5}),
    "decimals": ("cast((i % 401) * 31.7 - 900 as decimal(12, 3))", None),
    "double": ("cast(i % 97 as double) / 7 - 5", {"step": 0.25}),
    "doubles": ("cast((i * 37) % 5000 as double) * 1.25 - 800", None),
    "float": ("cast((i % 97) * 1.5 as float)", None),
    "date": ("date '1999-12-28' + cast((i * 3) % 900 as integer)", None),
    "quarter": ("date '1999-12-28' + cast((i * 3) % 900 as integer)", {"step": "quarter"}),
    "week": ("date '1999-12-28' + cast((i * 3) % 900 as integer)", {"step": "week"}),
    "moment": ("timestamp '1999-12-31 23:00:00' + cast(i * 7 as integer) * interval 1 hour", None),
    "zoned": ("timestamptz '1999-12-31 23:00:00+00' + cast(i as integer) * interval 1 day", None),
    "hour": (
        "timestamp '1999-12-31 23:59:30' + cast(i * 7 as integer) * interval 1 minute",
        {"step": "hour"},
    ),
    "old": ("date '1969-12-28' - cast((i * 3) % 900 as integer)", None),
    "old week": ("date '1970-12-28' - cast((i * 3) % 900 as integer)", {"step": "week"}),
    "old moment": ("timestamp '1970-03-31 23:00:00' - cast(i as integer) * interval 7 hour", None),
    "old zoned": (
        "timestamptz '1970-02-01 01:30:00+00' - cast(i as integer) * interval 1 day",
        None,
    ),
    "old nanoseconds": (
        "cast(timestamp '1970-03-31 23:00:00' - cast(i as integer) * interval 7 hour"
        " as timestamp_ns)",
        {"step": "week"},
    ),
    "old hour": (
        "timestamp '1970-01-01 23:59:30' - cast(i as integer) * interval 7 minute",
        {"step": "hour"},
    ),
}


def source(folder: Path, value: str) -> Path:
    file = folder / "source.duckdb"
    file.unlink(missing_ok=True)
    with duckdb.connect(str(file)) as con:
        con.execute(
            f"create table t as select i as id, {value} as x, 'c' || (i % 3) as c,"
            " case when i % 40 = 0 then null else 'd' || (i % 2) end as d"
            " from range(900) as r (i)"
        )
    return file


def policy(folder: Path, bounds: Any = None, **options: Any) -> Policy:
    x: dict[str, Any] = {"role": "quasi", **({"bounds": bounds} if bounds else {})}
    columns = {"id": {"role": "drop"}, "x": x, "c": {"role": "quasi"}, "d": {"role": "quasi"}}
    publish = {"name": "rel", "database": str(folder / "rel.duckdb"), "bounds": "grid"}
    given = {
        "version": 1,
        "source": {"table": "t"},
        "key": "id",
        "columns": columns | options.pop("columns", {}),
        "privacy": {"k_anonymity": 5},
        "publish": publish | options.pop("publish", {}),
        **options,
    }
    made = Policy.model_validate(given)
    assert isinstance(made, Policy)
    return made


def pairs(folder: Path, cells: str) -> list[tuple[Any, Any]]:
    """The bounds of all intervals."""
    with duckdb.connect(str(folder / "rel.duckdb"), read_only=True) as con:
        if cells == "typed":
            return con.execute("select distinct x_lo, x_hi from rel where x_lo < x_hi").fetchall()
        return con.execute(
            "select distinct regexp_extract(x, '^.(.*), (.*).$', 1), regexp_extract(x, '^.(.*),"
            " (.*).$', 2) from rel where starts_with(x, '[')"
        ).fetchall()


@pytest.mark.parametrize("cells", ["text", "typed"])
@pytest.mark.parametrize("name", TYPES)
def test_types(tmp_path: Path, name: str, cells: str) -> None:
    """Both verifiers agree, the source is covered, and intervals begin and end with steps."""
    value, bounds = TYPES[name]
    made = policy(tmp_path, bounds, publish={"cells": cells})
    release = anonymizer.run(made, source(tmp_path, value))
    assert release.measures["proved_records"] == 0
    assert anonymizer.verify(made, tmp_path / "rel.duckdb").passed
    assert judge(tmp_path / "rel.duckdb").passed
    found = pairs(tmp_path, cells)
    assert found
    if cells == "text":
        return
    for low, high in found:
        match low:
            case bool():
                raise AssertionError
            case int() | Decimal():
                step = Decimal(str(bounds["step"])) if bounds else None
                after_point = str(low).partition(".")[2]
                unit = Decimal(10) ** -len(after_point)
                assert low % (step or width(low)) == 0 or low == -128
                assert (high + unit) % (step or width(high)) == 0 or high in (127, 2**32 - 1)
            case float():
                step = bounds["step"] if bounds else None
                assert low / (step or width(low)) == pytest.approx(
                    round(low / (step or width(low)))
                )
            case dt.datetime():
                assert low.minute == 0
                assert (high + dt.timedelta(microseconds=1)).minute == 0
            case dt.date():
                after = high + dt.timedelta(1)
                if bounds is None:
                    assert low.day == after.day == 1
                elif bounds["step"] == "quarter":
                    assert low.month % 3 == after.month % 3 == 1
                else:
                    assert low.weekday() == after.weekday() == 0


def width(number: Any) -> int:
    """Two significant digits; 5 below 100."""
    step, end = 5, 100
    while number >= end or number < -end:
        step, end = end // 10, end * 10
    return step


def test_no_end_is_a_record(tmp_path: Path) -> None:
    """The ends of tight intervals are records of the source, for certain; steps show none."""
    file = source(tmp_path, "cast((i * 7919) % 100003 as integer)")
    proved = []
    for bounds in ("tight", "grid"):
        made = policy(
            tmp_path,
            publish={"bounds": bounds, "cells": "typed"},
            columns={"c": {"role": "drop"}, "d": {"role": "drop"}},
        )
        release = anonymizer.run(made, file)
        ends = {end for pair in pairs(tmp_path, "typed") for end in pair}
        with duckdb.connect(str(file), read_only=True) as con:
            values = {row[0] for row in con.execute("select x from t").fetchall()}
        proved.append((release.measures["proved_records"], len(ends & values)))
    assert proved[0][0] > 300
    assert proved[1][0] == 0
    assert proved[1][1] < 10  # (as many as steps hit by chance)


ALGORITHMS: dict[str, dict[str, Any]] = {
    "mondrian": {},
    "lgb": {},
    "full_domain": {},
    "msb": {"algorithm": {"name": "msb", "generalize": {"k": 5}}},
    "danonyir": {
        "person": "id",
        "key": None,
        "privacy": {"eir_alpha_beta": {"alpha": 0.5, "beta": 0.5}},
        "columns": {"id": {"role": "identifier"}, "s": {"role": "sensitive"}},
    },
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms(tmp_path: Path, name: str) -> None:
    rng = random.Random(1)
    file = tmp_path / "source.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute("create table t (id integer, x integer, c varchar, d varchar, s varchar)")
        con.executemany(
            "insert into t values (?, ?, ?, ?, ?)",
            [(i, rng.randrange(900), f"c{i % 3}", f"d{i % 2}", f"s{i % 7}") for i in range(400)],
        )
    given = {"algorithm": {"name": name}, **ALGORITHMS[name]}
    sensitive: dict[str, Any] = {"role": "sensitive", "protect": {"l_diversity": 2}}
    columns: dict[str, Any] = {"s": sensitive, **given.pop("columns", {})}
    if name == "full_domain":
        cuts = {"builder": "intervals", "cuts": [0, 300, 600], "top": 600, "bottom": 0}
        prefix = {"builder": "prefix", "lengths": [1]}
        columns["x"] = {"role": "quasi", "hierarchy": cuts}
        columns |= {one: {"role": "quasi", "hierarchy": prefix} for one in "cd"}
    made = policy(tmp_path, columns=columns, **given)
    release = anonymizer.run(made, file)
    assert release.measures["proved_records"] == 0
    assert anonymizer.verify(made, tmp_path / "rel.duckdb").passed
    assert judge(tmp_path / "rel.duckdb").passed


def test_changed_bounds_are_found(tmp_path: Path) -> None:
    made = policy(tmp_path)
    release = anonymizer.run(made, source(tmp_path, "cast((i * 7919) % 1000 as integer)"))
    for cell in ("[101, 209]", "[100, 208]", "[100, 209]"):
        con = duckdb.connect()
        con.execute(f"attach '{tmp_path / 'rel.duckdb'}' as released (read_only)")
        con.execute("create table t as from released.rel")
        con.execute("update t set x = ? where class_id = 1", [cell])
        found = verify_release(
            _asking(con),
            Table("t", "main"),
            release.manifest.layout,
            release.manifest.requirements,
        )
        odd = {check.name for check in found.failed}
        assert ("cells_on_grid" in odd) == (cell != "[100, 209]")


def _asking(con: duckdb.DuckDBPyConnection) -> Any:
    return lambda text: con.execute(text).fetchall()


def test_categories_show_one_value_or_all(tmp_path: Path) -> None:
    anonymizer.run(policy(tmp_path), source(tmp_path, "i % 50"))
    with duckdb.connect(str(tmp_path / "rel.duckdb"), read_only=True) as con:
        shown = Counter(row[0] for row in con.execute("select c from rel").fetchall())
        shown |= Counter(row[0] for row in con.execute("select d from rel").fetchall())
    assert {*shown} <= {
        "c0",
        "c1",
        "c2",
        "*",
        "d0",
        "d1",
        "* or NULL",
        "d0 or NULL",
        "d1 or NULL",
        None,
    }


def test_the_policy_belongs_to_the_release(tmp_path: Path) -> None:
    made = policy(tmp_path, {"step": 10})
    anonymizer.run(made, source(tmp_path, "i % 500"))
    for other in (policy(tmp_path, {"step": 20}), policy(tmp_path, publish={"bounds": "tight"})):
        with pytest.raises(GuaranteeError, match="bounds"):
            anonymizer.verify(other, tmp_path / "rel.duckdb")


@pytest.mark.parametrize(
    ("step", "kind"),
    [(1, "integer"), ("month", "integer"), (5, "date"), ("day", "date"), (0.005, "decimal(9,2)"),
     (0.5, "integer"), ("hour", "date")],
)  # fmt: skip
def test_steps_that_do_not_fit(tmp_path: Path, step: Any, kind: str) -> None:
    value = "date '2020-01-01'" if kind == "date" else f"cast(i % 50 as {kind})"
    with pytest.raises(SourceError) as raised:
        anonymizer.run(policy(tmp_path, {"step": step}), source(tmp_path, value))
    assert {problem.path for problem in raised.value.problems} == {"columns.x.bounds.step"}


def test_a_step_without_a_grid(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"columns.x.bounds.*bounds: grid"):
        policy(tmp_path, {"step": 5}, publish={"bounds": "tight"})


def test_what_a_reader_adds_who_takes_cells_for_tight(tmp_path: Path) -> None:
    """`*` of two values proves both to this reader, where all other cells are exact."""
    file = tmp_path / "source.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute(
            "create table t as select i as id, 10 * (i // 5) as x, 'd' as d, case when i % 5 = 0"
            " and i < 55 or i // 5 = 11 then 'c1' else 'c2' end as c from range(65) as r (i)"
        )
    weights = {"x": {"role": "quasi", "weight": 100}, "c": {"role": "quasi", "weight": 0.01}}
    made = policy(tmp_path, columns=weights)
    anonymizer.run(made, file)
    found: Any = anonymizer.attack(made, file)
    assert found.proved == 0
    assert found.if_tight == 22  # in each of eleven classes a row of c1, and one of c2
    assert found.as_dict()["proved_if_tight"] == 22
