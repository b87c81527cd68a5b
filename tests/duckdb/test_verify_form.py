"""Releases made by hand and at random, with text and typed cells, whole and tampered with."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import duckdb
import pytest

from anonymizer.compile import Table
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout, Originals, PublishedColumn, Requirement
from anonymizer.verification.fast import WorkTables, fast_release, fast_source
from anonymizer.verification.release import verify_release
from anonymizer.verification.source_comparison import verify_against_source
from tests.oracle import cells, figures
from tests.oracle.lgb import Requirements, Row, Rule, check_corollary3
from tests.selection import rounds, some

VIEW, LINK, ORIGINALS = Table("release", "main"), Table("link", "main"), Table("source", "main")
JOBS = ("clerk", "a, b", '"cook"', " spy", "*", "NULL", "x or NULL", "", "{pilot}", "Zöllner")
ZIPS = {z: (z[:2] + "*", z[:1] + "**", "*") for z in ("100", "101", "110", "111", "200", "211")}
KINDS: dict[str, Literal["numeric", "categorical", "date"]] = {
    "age": "numeric",
    "born": "date",
    "zip": "categorical",
    "job": "categorical",
}
TYPES = {"age": "DECIMAL(5,1)", "born": "DATE", "zip": "VARCHAR", "job": "VARCHAR"}
BUCKETS = ("age", "job", "pay")
TABLES = WorkTables(Table("judged", "main"), Table("counted", "main"))
COMPARED, PAIRS = Table("compared", "main"), Table("judged_pairs", "main")
REQUIRED = (
    Requirement("k_anonymity", None, {"k": 2}),
    *(Requirement("distinct_l", name, {"l": 2}, "bucket") for name in BUCKETS),
)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def table(
    connection: duckdb.DuckDBPyConnection, name: str, types: dict[str, str], rows: Sequence[Row]
) -> None:
    columns = ", ".join(f'"{column}" {sql_type}' for column, sql_type in types.items())
    connection.execute(f"create or replace table {name} ({columns})")
    if rows:
        marks = ", ".join("?" for _ in types)
        data = [[row[column] for column in types] for row in rows]
        connection.executemany(f"insert into {name} values ({marks})", data)


def lgb_layout(typed: bool = False, person: bool = False) -> Layout:
    columns = []
    for name, kind in KINDS.items():
        bucket = f"{name}_bucket" if name in BUCKETS else None
        shape: dict[str, Any] = {"name": name}
        if typed and kind != "categorical":
            shape = {part: f"{name}_{part}" for part in ("lo", "hi", "nullable")}
        elif typed and name == "zip":
            shape = {"name": name, "nullable": "zip_nullable"}
        elif typed:
            shape = {"name": name, "list_cells": True}
        if typed and bucket:
            shape["value"] = f"{name}_value"
        role: Literal["semi", "quasi"] = "semi" if bucket else "quasi"
        columns.append(
            PublishedColumn(name, role, kind, TYPES[name], **shape, bucket=bucket,
                            hierarchy=name == "zip")
        )  # fmt: skip
    columns.append(
        PublishedColumn("pay", "sensitive", "numeric", "INTEGER", name="pay", bucket="pay_bucket")
    )
    columns.append(PublishedColumn("note", "keep", "categorical", "VARCHAR", name="note"))
    return Layout("lgb", "typed" if typed else "text", tuple(columns),
                  person_id="person_id" if person else None)  # fmt: skip


DATE_POOL = [f"2020-0{month}-1{day}" for month in (1, 5) for day in (0, 3, 7)]
DRAWS: dict[str, list[Any]] = {
    "age": [-2.5, 0, 3, 7.5, 30, 41, None],
    "born": [*DATE_POOL, None],
    "zip": [*ZIPS, None],
    "job": [*JOBS, None],
    "pay": [*range(-3, 40), None],
}


def domains(source: Sequence[Row]) -> dict[str, cells.Domain]:
    return {
        name: cells.domain_of([row[name] for row in source], kind, ZIPS if name == "zip" else None)
        for name, kind in KINDS.items()
    }


def random_release(draw: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A source and its release with text cells; `row_ref` joins them, and nothing is suppressed."""
    source: list[dict[str, Any]] = []
    for name in range(1, draw.randint(3, 8)):
        pattern = {column: draw.random() < 0.4 for column in ("age", "job")}
        for _ in range(draw.randint(2, 5)):
            row = {column: draw.choice(pool) for column, pool in DRAWS.items()}
            flags = {f"hide_{c}": draw.choice([True, None]) if f else False
                     for c, f in pattern.items()}  # fmt: skip
            note = f"n{draw.randint(1, 3)}"
            source.append({**row, **flags, "row_ref": len(source), "class_id": name, "note": note})
    release = [{k: row[k] for k in ("row_ref", "class_id", "pay", "note")} for row in source]
    every = domains(source)
    for column, kind in KINDS.items():
        for name in {row["class_id"] for row in source}:
            at = [i for i, row in enumerate(source) if row["class_id"] == name]
            text = cells.write(generalized([source[i][column] for i in at], kind, every[column]))
            for i in at:
                release[i][column] = text
    for column in BUCKETS:
        for row in release:
            row[f"{column}_bucket"] = None
        flagged = [i for i, row in enumerate(source) if row.get(f"hide_{column}") is not False]
        draw.shuffle(flagged)
        flagged.sort(key=lambda i: (source[i][column] is None, repr(source[i][column])))
        count = max(1, len(flagged) // 2)
        for residue in range(count):
            members = flagged[residue::count]
            values = [source[i][column] for i in members]
            draw.shuffle(values)
            for i, value in zip(members, values, strict=True):
                release[i][column] = value if column == "pay" else published(value, KINDS[column])
                release[i][f"{column}_bucket"] = residue + 1
    return source, release


def published(value: Any, kind: str) -> str | None:
    if value is None:
        return None
    return cells.write(cells.Exact(value if kind == "categorical" else cells.ordered(value, kind)))


def generalized(values: list[Any], kind: str, domain: cells.Domain) -> cells.Cell:
    present = [value for value in values if value is not None]
    nullable = len(present) < len(values)
    if not present:
        return cells.Null()
    if kind != "categorical":
        places = [cells.ordered(value, kind) for value in present]
        lo, hi = min(places), max(places)
        return cells.Exact(lo, nullable) if lo == hi else cells.Interval(lo, hi, nullable)
    members = frozenset(present)
    if len(members) == 1:
        return cells.Exact(present[0], nullable)
    if domain.nodes:
        paths = [ZIPS[value] for value in members]
        node = next(one for one in paths[0] if all(one in path for path in paths))
        return cells.Star(nullable) if node == "*" else cells.Exact(node, nullable)
    return cells.Star(nullable) if members == domain.members else cells.ValueSet(members, nullable)


def typed_rows(release: Sequence[Row], every: dict[str, cells.Domain]) -> list[dict[str, Any]]:
    """The same release with typed cells."""
    rows = []
    for row in release:
        made = {k: row[k] for k in ("row_ref", "class_id", "pay", "note", "pay_bucket")}
        for column, kind in KINDS.items():
            bucket = row.get(f"{column}_bucket")
            cell: cells.Cell = cells.parse(row[column], kind)
            if column in BUCKETS:
                made[f"{column}_bucket"] = bucket
                made[f"{column}_value"] = None
            if bucket is not None:
                if isinstance(cell, cells.Exact):
                    made[f"{column}_value"] = cell.value
                cell = cells.Null()
            empty = isinstance(cell, cells.Null)
            nullable = None if bucket is not None else empty or cell.nullable  # type: ignore[union-attr]
            if kind != "categorical":
                ends = (None, None)
                if isinstance(cell, cells.Exact):
                    ends = (cell.value, cell.value)
                elif isinstance(cell, cells.Interval):
                    ends = (cell.lo, cell.hi)
                made |= {f"{column}_lo": ends[0], f"{column}_hi": ends[1],
                         f"{column}_nullable": nullable}  # fmt: skip
            elif column == "zip":
                star = isinstance(cell, cells.Star)
                made |= {
                    "zip": "*" if star else cell.value if isinstance(cell, cells.Exact) else None,
                    "zip_nullable": nullable,
                }
            elif bucket is not None:
                made[column] = None
            else:
                nulls = [None] if nullable else []
                made[column] = sorted(cells.leaves(cell, every[column])) + nulls
        rows.append(made)
    return rows


TEXT_TYPES = {"class_id": "INTEGER", "age": "VARCHAR", "age_bucket": "INTEGER", "born": "VARCHAR",
              "zip": "VARCHAR", "job": "VARCHAR", "job_bucket": "INTEGER", "pay": "INTEGER",
              "pay_bucket": "INTEGER", "note": "VARCHAR", "row_ref": "BIGINT"}  # fmt: skip
TYPED_TYPES = {"class_id": "INTEGER", "age_lo": "DECIMAL(5,1)", "age_hi": "DECIMAL(5,1)",
               "age_nullable": "BOOLEAN", "age_value": "DECIMAL(5,1)", "age_bucket": "INTEGER",
               "born_lo": "DATE", "born_hi": "DATE", "born_nullable": "BOOLEAN", "zip": "VARCHAR",
               "zip_nullable": "BOOLEAN", "job": "VARCHAR[]", "job_value": "VARCHAR",
               "job_bucket": "INTEGER", "pay": "INTEGER", "pay_bucket": "INTEGER",
               "note": "VARCHAR", "row_ref": "BIGINT"}  # fmt: skip
SOURCE_TYPES = {**TYPES, "pay": "INTEGER", "note": "VARCHAR", "hide_age": "BOOLEAN",
                "hide_job": "BOOLEAN", "row_ref": "BIGINT"}  # fmt: skip
VALUES = {name: name for name in (*KINDS, "pay", "note")}
FLAGS = {"age": "hide_age", "job": "hide_job"}


def store(
    connection: duckdb.DuckDBPyConnection,
    source: Sequence[Row],
    release: Sequence[Row],
    typed: bool = False,
) -> Originals:
    """Tables source, link, release and zip_nodes."""
    rows = typed_rows(release, domains(source)) if typed else release
    table(connection, "source", SOURCE_TYPES, source)
    table(connection, "link", TYPED_TYPES if typed else TEXT_TYPES, rows)
    connection.execute(
        "create or replace table release as select * from link order by md5(row_ref::varchar)"
    )
    connection.execute("alter table release drop row_ref")
    pairs = {(leaf, label) for leaf, path in ZIPS.items() for label in (leaf, *path)}
    nodes = [{"value": leaf, "label": label} for leaf, label in sorted(pairs)]
    table(connection, "zip_nodes", {"value": "VARCHAR", "label": "VARCHAR"}, nodes)
    return Originals(ORIGINALS, VALUES, FLAGS, {"zip": Table("zip_nodes", "main")})


def judge(connection: duckdb.DuckDBPyConnection, typed: bool = False) -> Verification:
    def run_sql(text: str) -> list[tuple[Any, ...]]:
        return connection.execute(text).fetchall()

    found = verify_release(run_sql, VIEW, lgb_layout(typed), REQUIRED)
    for check in found.checks:
        assert len(run_sql(check.sql)) == check.failing
        assert check.passed == (check.failing == 0)
    # a run asks the different tuples and counted values where they do: it has to find the same
    for tables in (None, TABLES):
        fast = fast_release(VIEW, lgb_layout(typed), tables)
        assert found == verify_release(run_sql, VIEW, lgb_layout(typed), REQUIRED, ask=fast)
    return found


def judge_source(
    connection: duckdb.DuckDBPyConnection, originals: Originals, typed: bool = False, **options: Any
) -> Verification:
    def run_sql(text: str) -> list[tuple[Any, ...]]:
        return connection.execute(text).fetchall()

    layout = lgb_layout(typed)
    options |= {"compared": COMPARED}
    found = verify_against_source(run_sql, originals, LINK, VIEW, layout, **options)
    for check in found.checks:
        assert len(run_sql(check.sql)) == check.failing
    # a run compares digests of rows and buckets, and proves from pairs that cells cover
    suppressed = options.get("suppressed", 0)
    fast = fast_source(originals, LINK, VIEW, layout, pairs=PAIRS, suppressed=suppressed)
    again = verify_against_source(run_sql, originals, LINK, VIEW, layout, **options, ask=fast)
    assert found == again
    return found


def failed(found: Verification) -> list[tuple[str, str | None]]:
    return sorted({(check.name, check.column) for check in found.failed}, key=repr)


def offenders(connection: duckdb.DuckDBPyConnection, found: Verification) -> dict[Any, set[int]]:
    named: dict[Any, set[int]] = defaultdict(set)
    for check in found.checks:
        named[check.name, check.column] |= {r[0] for r in connection.execute(check.sql).fetchall()}
    return named


FIG2_LAYOUT = Layout(
    "lgb",
    "text",
    (
        PublishedColumn("age", "semi", "numeric", "INTEGER", name="age", bucket="age_bucket"),
        PublishedColumn("gender", "quasi", "categorical", "VARCHAR", name="gender"),
        PublishedColumn("zip", "semi", "categorical", "VARCHAR", name="zip", bucket="zip_bucket",
                        hierarchy=True),
        PublishedColumn("disease", "sensitive", "categorical", "VARCHAR", name="disease",
                        bucket="disease_bucket"),
    ),
)  # fmt: skip
FIG2_TYPES = {"id": "INTEGER", "class_id": "INTEGER", "age": "VARCHAR", "age_bucket": "INTEGER",
              "gender": "VARCHAR", "zip": "VARCHAR", "zip_bucket": "INTEGER",
              "disease": "VARCHAR", "disease_bucket": "INTEGER"}  # fmt: skip
FIG2_REQUIRED = (
    Requirement("k_anonymity", None, {"k": 2}),
    *(Requirement("distinct_l", c, {"l": 2}, "bucket") for c in ("age", "zip", "disease")),
)
TAMPERING = [
    ("update release set class_id = null where id = 1001", {"class_present", "k_anonymity"}),
    ("update release set age = '[25, 29]' where id = 1001", {"class_cells", "k_anonymity_tuples"}),
    ("delete from release where id = 1001", {"k_anonymity", "k_anonymity_tuples", "distinct_l"}),
    ("update release set age = '[28, 25]' where class_id = 1", {"cell_form"}),
    ("update release set gender = '{Male}' where class_id = 1", {"cell_form"}),
    ("update release set gender = '{Male, Female}' where class_id = 1", {"cell_form"}),
    ("update release set age = '[24, 31]' where id = 1004",
     {"cell_or_bucket", "distinct_l"}),
    ("update release set zip = '{21344, 21357}' where id = 1001", {"cell_or_bucket"}),
    ("update release set disease_bucket = null where class_id = 1",
     {"cell_or_bucket"}),
    ("update release set disease = 'Gastritis' where id = 1001", {"bucket_unique", "distinct_l"}),
    ("update release set age = null where id = 1004", {"distinct_l"}),
    ("update release set age_bucket = null where id = 1004",
     {"class_flags", "distinct_l", "k_anonymity_tuples"}),
]  # fmt: skip


@pytest.fixture
def figure_2(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    table(connection, "release", FIG2_TYPES, figures.FIG2)
    return connection


def judge_figure(connection: duckdb.DuckDBPyConnection) -> Verification:
    return verify_release(
        lambda text: connection.execute(text).fetchall(), VIEW, FIG2_LAYOUT, FIG2_REQUIRED
    )


def test_figure_2_holds(figure_2: duckdb.DuckDBPyConnection) -> None:
    found = judge_figure(figure_2)
    assert found.passed
    assert {check.achieved for check in found.checks if check.name == "k_anonymity"} == {2}
    assert check_corollary3(figures.FIG2, figures.REQUIREMENTS) == []
    assert found.as_dict()["checks"][0]["name"] == "class_present"


@pytest.mark.parametrize(("statement", "broken"), TAMPERING)
def test_tampering_fails_the_right_checks(
    figure_2: duckdb.DuckDBPyConnection, statement: str, broken: set[str]
) -> None:
    figure_2.execute(statement)
    found = judge_figure(figure_2)
    assert not found.passed
    assert {check.name for check in found.failed} == broken


def test_persons_stay_in_one_class_and_out_of_each_others_buckets(
    figure_2: duckdb.DuckDBPyConnection,
) -> None:
    figure_2.execute("alter table release add column person_id integer")
    figure_2.execute("update release set person_id = id")
    shape = Layout(FIG2_LAYOUT.algorithm, "text", FIG2_LAYOUT.columns, person_id="person_id")

    def names() -> set[tuple[str, str | None]]:
        found = verify_release(
            lambda text: figure_2.execute(text).fetchall(), VIEW, shape, FIG2_REQUIRED
        )
        return set(failed(found))

    assert names() == set()
    figure_2.execute("update release set person_id = 1003 where id = 1004")
    assert names() == {("person_class", None), ("bucket_persons", "disease")}
    figure_2.execute("update release set person_id = id")
    figure_2.execute("update release set person_id = 1003 where id = 1006")
    assert names() == {("k_anonymity", None), ("k_anonymity_tuples", None)}


def corollary_requirements() -> Requirements:
    return Requirements(2, KINDS, {column: Rule(l=2) for column in BUCKETS})


@some(0)
@rounds(4, 12)
@pytest.mark.parametrize("typed", [False, True])
def test_random_releases_are_as_the_oracle_says(
    connection: duckdb.DuckDBPyConnection, typed: bool, rounds: int
) -> None:
    draw = random.Random(11)
    for _ in range(rounds):
        source, release = random_release(draw)
        originals = store(connection, source, release, typed)
        found = judge(connection, typed)
        bad = offenders(connection, found)
        expected = check_corollary3(release, corollary_requirements())
        by_name: dict[Any, set[Any]] = defaultdict(set)
        for violation in expected:
            by_name[violation.condition, violation.column].add(violation.where)
        assert bad["k_anonymity", None] == by_name["class smaller than k", ""]
        for column in BUCKETS:
            twice = by_name["value twice in a bucket", column]
            assert bad["bucket_unique", column] == twice
            small = by_name["bucket smaller than l", column]
            assert small <= bad["distinct_l", column] <= small | twice
        allowed = {"distinct_l", "bucket_unique"}
        assert {check.name for check in found.failed} <= allowed
        assert failed(judge_source(connection, originals, typed)) == []


@pytest.mark.slow
def test_random_tampering_is_found_where_the_oracle_finds_it(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    draw = random.Random(12)
    texts = ["[1, 2]", "[2, 1]", "7", "{a, b}", "{b, a}", "*", "NULL", "x or NULL", '"a, b"', "a,b"]
    texts += ['"plain"', "[1,2]", "{a}", '{"a, b", c}', "{a, b} or NULL", " x", "", '""']
    texts += ["NULL or NULL", "* or NULL", '"a"b"']
    for _ in range(12):
        source, release = random_release(draw)
        for _ in range(draw.randint(1, 3)):
            row, column = draw.choice(release), draw.choice([*KINDS])
            if draw.random() < 0.6:
                row[column] = draw.choice([*texts, None])
            elif column in BUCKETS:
                row[f"{column}_bucket"] = draw.choice([None, 1])
        store(connection, source, release)
        bad = offenders(connection, judge(connection))
        expected = check_corollary3(release, corollary_requirements())
        flags = {v.where for v in expected if v.condition == "class of two flag patterns"}
        assert bad["class_flags", None] == flags
        differ = {v.where for v in expected if v.condition.startswith("generalized cells")}
        assert bad["class_cells", None] - flags == differ - flags
        for column, kind in KINDS.items():
            rows = [(row["class_id"], row.get(f"{column}_bucket"), row[column]) for row in release]
            assert bad["cell_form", column] == {
                name for name, bucket, text in rows if bucket is None and not sound(text, kind)
            }
            assert bad["cell_or_bucket", column] == {
                name
                for name, bucket, text in rows
                if bucket is not None and not (sound(text, kind) and exact(text, kind))
            }


@pytest.mark.parametrize("column", ["age", "born"])
def test_typed_bounds_are_in_order(connection: duckdb.DuckDBPyConnection, column: str) -> None:
    wide, draw = f"{column}_lo < {column}_hi", random.Random(12)
    found: list[tuple[int]] = []
    while not found:
        store(connection, *random_release(draw), True)
        found = connection.execute(f"select class_id from release where {wide} limit 1").fetchall()
    assert offenders(connection, judge(connection, True))["cell_form", column] == set()
    connection.execute(
        f"update release set {column}_lo = {column}_hi, {column}_hi = {column}_lo"
        f" where {wide} and class_id = {found[0][0]}"
    )
    bad = offenders(connection, judge(connection, True))
    assert bad["cell_form", column] == {found[0][0]}


def sound(text: str | None, kind: str) -> bool:
    try:
        cells.parse(text, kind)
    except cells.GrammarError:
        return False
    return True


def exact(text: str | None, kind: str) -> bool:
    cell = cells.parse(text, kind)
    return isinstance(cell, cells.Null) or (isinstance(cell, cells.Exact) and not cell.nullable)


@some(0)
@pytest.mark.parametrize("typed", [False, True])
def test_every_covering_cell_is_accepted_and_no_other(
    connection: duckdb.DuckDBPyConnection, typed: bool
) -> None:
    """Originals redrawn at random: the cells cover them as the oracle says, class by class."""
    draw = random.Random(13)
    for _ in range(8):
        source, release = random_release(draw)
        every = domains(source)
        changed = [{**row, **{c: draw.choice(DRAWS[c]) for c in KINDS if draw.random() < 0.2}}
                   for row in source]  # fmt: skip
        store(connection, source, release, typed)
        table(connection, "source", SOURCE_TYPES, changed)
        nodes = {"zip": Table("zip_nodes", "main")}
        originals = Originals(ORIGINALS, VALUES, FLAGS, nodes)
        bad = offenders(connection, judge_source(connection, originals, typed))
        for column, kind in KINDS.items():
            expected = {
                row["class_id"]
                for row, was in zip(release, changed, strict=True)
                if row.get(f"{column}_bucket") is None
                and not cells.covers(cells.parse(row[column], kind), was[column], every[column])
            }
            stars = {row["class_id"] for row in release if str(row[column]).startswith("*")}
            # a typed list says which values `*` stands for, so a value new to the domain shows
            assert (
                expected <= bad["source_covers", column] <= expected | (stars if typed else set())
            )


SOURCE_TAMPERING: list[tuple[str, list[tuple[str, str | None]]]] = [
    ("update release set note = 'other' where class_id = 1", [("source_link", None)]),
    ("delete from release where class_id = 1", [("source_link", None)]),
    ("insert into source select * replace (-1 as row_ref) from source where row_ref = 0",
     [("source_rows", None)]),
    ("update source set note = 'other' where row_ref = 0", [("source_equal", "note")]),
    ("update source set pay = 1000 where row_ref = 0", [("source_bucket", "pay")]),
]  # fmt: skip


@some(1)
@pytest.mark.parametrize(("statement", "broken"), SOURCE_TAMPERING)
def test_tampering_against_the_source(
    connection: duckdb.DuckDBPyConnection,
    statement: str,
    broken: list[tuple[str, str | None]],
) -> None:
    originals = store(connection, *random_release(random.Random(14)))
    assert judge_source(connection, originals).passed
    connection.execute(statement)
    assert failed(judge_source(connection, originals)) == broken


@pytest.mark.slow
def test_flags_persons_and_suppressed_rows(connection: duckdb.DuckDBPyConnection) -> None:
    source, release = random_release(random.Random(16))
    originals = store(connection, source, release)
    connection.execute("update source set hide_age = not coalesce(hide_age, true)")
    names = {name for name, column in failed(judge_source(connection, originals))}
    assert names == {"source_flags", "source_unflagged"}
    connection.execute("update source set hide_age = false")
    assert failed(judge_source(connection, originals)) == [("source_unflagged", "age")]
    assert judge_source(connection, originals, promoted=True).passed
    assert failed(judge_source(connection, originals, promoted=True, suppressed=1)) == [
        ("source_rows", None)
    ]
    for name in ("link", "release", "source"):
        connection.execute(f"alter table {name} add column person_id integer")
    connection.execute("update link set person_id = row_ref // 2")
    connection.execute("update source set person_id = row_ref // 2 + 100")
    people = Originals(ORIGINALS, VALUES, person="person_id")

    def persons() -> int:
        shape = lgb_layout(person=True)
        found = verify_against_source(
            lambda text: connection.execute(text).fetchall(),
            people,
            LINK,
            VIEW,
            shape,
            compared=COMPARED,
        )
        return next(check.failing for check in found.checks if check.name == "source_persons")

    assert persons() == 0
    connection.execute("update source set person_id = 100 where row_ref = 2")
    assert persons() == 2
