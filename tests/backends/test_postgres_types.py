"""Every type of Postgres: a verified release, or the refusal that docs/how-to/postgres.md states.

A type is plain (as on DuckDB), read as text, or kept as text only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError, EngineError, SourceError
from anonymizer.publish.export import export
from tests.backends.tables import on_postgres, query
from tests.selection import some

pytestmark = pytest.mark.postgres

PLAIN = {
    "smallint": "(i % 5)::smallint",
    "integer": "i % 5",
    "bigint": "(i % 5) * 5000000000",
    "numeric": "(i % 5) * 0.000001",
    "numeric(9,2)": "(i % 5) / 2.0",
    "numeric(38)": "(i % 5) * 10 ^ 37::numeric",
    "numeric(38,10)": "(i % 5) / 7.0",
    "numeric(60,5)": "(i % 5) * 10 ^ 50::numeric",
    "real": "(i % 5) / 3.0",
    "double precision": "(i % 5) / 3.0",
    "boolean": "i % 2 = 0",
    "text": "'t' || i % 5",
    "varchar(9)": "'t' || i % 5",
    "char(5)": "'t' || i % 5",
    '"char"': "chr(65 + i % 5)",
    "name": "'t' || i % 5",
    "uuid": "md5((i % 5)::text)::uuid",
    "mood": "(array['calm', 'glad', 'sad'])[1 + i % 3]::mood",
    "posint": "i % 5",
    "words": "'t' || i % 5",
    "date": "date '2020-01-01' + i % 5",
    "timestamp": "timestamp '2020-01-01 10:00' + (i % 5) * interval '1 hour'",
    "timestamp(0)": "timestamp '2020-01-01 10:00' + (i % 5) * interval '1 hour'",
    "timestamptz": "timestamptz '2020-01-01 10:00+02' + (i % 5) * interval '1 hour'",
    "timestamptz(3)": "timestamptz '2020-01-01 10:00+02' + (i % 5) * interval '1001 ms'",
    "time": "time '10:00' + (i % 5) * interval '1 hour'",
}
TEXT = {
    "inet": "('10.0.0.' || i % 5)::inet",
    "cidr": "('10.0.' || i % 5 || '.0/24')::cidr",
    "bit(4)": "(i % 5)::bit(4)",
    "bit varying": "(i % 5)::bit(4)",
    "bytea": "('x' || i % 5)::bytea",
    "timetz": "timetz '10:00+02' + (i % 5) * interval '1 hour'",
    "oid": "i % 5",
    "pg_lsn": "('0/' || i % 5)::pg_lsn",
    "address": "('10.0.0.' || i % 5)::inet",
}
OTHER = {
    "money": "(i % 5)::money",
    "interval": "(i % 5) * interval '1 hour'",
    "public.citext": "(array['t', 'T'])[1 + i % 2] || i % 5",
    'text collate "public"."caseless"': "(array['t', 'T'])[1 + i % 2] || i % 5",
    "json": "json_build_object('a', i % 5)",
    "jsonb": "jsonb_build_object('a', i % 5)",
    "xml": "('<a>' || i % 5 || '</a>')::xml",
    "int4range": "int4range(i % 5, 10)",
    "tsvector": "to_tsvector('simple', 't' || i % 5)",
    "point": "point(i % 5, 0)",
    "public.hstore": "('a=>' || i % 5)::public.hstore",
    "pair": "row(i % 5, 'x')::pair",
    "regclass": "'pg_class'::regclass",
    "folded": "(array['t', 'T'])[1 + i % 2] || i % 5",
}
ARRAYS = {"integer[]": "array[i % 5]", "text[]": "array['t' || i % 5]"}


@pytest.fixture(scope="module")
def types(postgres: str) -> str:
    """A database with types of its own."""
    query(postgres, "drop schema if exists kinds cascade")
    query(postgres, "create schema kinds")
    for extension in ("citext", "hstore"):
        query(postgres, f"create extension if not exists {extension} schema public")
    for made in (
        "create type kinds.mood as enum ('calm', 'glad', 'sad')",
        "create domain kinds.posint as integer check (value >= 0)",
        "create domain kinds.words as text",
        "create domain kinds.address as inet",
        "create domain kinds.folded as public.citext",
        "create type kinds.pair as (a integer, b text)",
        "drop collation if exists public.caseless",
        "create collation public.caseless"
        " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    ):
        query(postgres, made)
    mark = "&" if "?" in postgres else "?"
    return f"{postgres}{mark}options=-csearch_path%3Dkinds%2Cpublic"


def filled(address: str, kind: str, value: str) -> None:
    """A table with three columns of a type."""
    query(address, "drop table if exists kinds.typed cascade")
    query(address, f"create table kinds.typed (v {kind}, w {kind}, x {kind}, q integer)")
    query(
        address,
        "insert into kinds.typed select v, v, v, q from"
        f" (select ({value}) as v, i % 7 as q from generate_series(1, 60) i) as made",
    )


def given(v: Any = "drop", w: Any = "drop", **rest: Any) -> Policy:
    columns = {"v": v, "w": w, "x": "drop", "q": "quasi"}
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "typed"},
            "columns": {
                name: {"role": role} if isinstance(role, str) else role
                for name, role in columns.items()
            },
            "privacy": {"k_anonymity": 3},
            "publish": {"name": "typed_out", "schema": "kinds"},
            **rest,
        }
    )


KEPT = {"role": "keep", "acknowledge_unique": True}
PROTECTED = {"role": "sensitive", "protect": {"l_diversity": 2}}
SAME = """
    with published as (select w::text collate "C" as w from kinds.typed_out),
    raw as (select {text} collate "C" as w from kinds.typed)
    select count(*) from (
        (select w from published except all select w from raw)
        union all
        (select w from raw except all select w from published)
    ) as different
"""


@some(8)
@pytest.mark.parametrize("kind", [*PLAIN, *TEXT])
def test_a_type_that_is_released(types: str, kind: str) -> None:
    filled(types, kind, {**PLAIN, **TEXT}[kind])
    known = ["uuid"] if kind == "uuid" else []
    policy = given({"role": "quasi", "acknowledge": known}, {**KEPT, "acknowledge": known})
    assert on_postgres(policy, types).verification.passed
    assert anonymizer.verify(policy, types).passed
    text = "encode(w, 'escape')" if kind == "bytea" else "w::text"
    assert query(types, SAME.format(text=text)) == [(0,)]
    (classes,) = query(types, "select count(distinct v) from kinds.typed_out")[0]
    assert classes > 1
    if kind in TEXT:
        shown = "select distinct pg_typeof(w)::text from kinds.typed_out"
        assert query(types, shown) == [("text",)]


@pytest.mark.parametrize("kind", list(OTHER))
def test_a_type_that_is_kept_as_text_only(types: str, kind: str) -> None:
    filled(types, kind, OTHER[kind])
    assert on_postgres(given(w=KEPT), types).verification.passed
    assert query(types, SAME.format(text="w::text")) == [(0,)]
    said = r"columns\.v: has the type .*, whose equal values may have different texts"
    for role in ("quasi", PROTECTED, "sensitive"):
        with pytest.raises(SourceError, match=said):
            anonymizer.plan(given(role), types)
    for option in ("person", "key"):
        with pytest.raises(SourceError, match=f"{option}: has the type"):
            anonymizer.plan(given(**{option: "v"}), types)


@pytest.mark.parametrize("kind", list(ARRAYS))
def test_an_array_is_refused(types: str, kind: str) -> None:
    filled(types, kind, ARRAYS[kind])
    for role in ("quasi", PROTECTED, KEPT):
        with pytest.raises(SourceError, match="cannot be published as a value"):
            anonymizer.plan(given(role), types)
    assert on_postgres(given(), types).verification.passed


@pytest.mark.parametrize("kind", ["date", "timestamp", "numeric", "double precision"])
def test_values_that_no_interval_holds(types: str, kind: str) -> None:
    value = "NaN" if kind in ("numeric", "double precision") else "infinity"
    filled(types, kind, f"case when i % 5 = 0 then '{value}'::{kind} end")
    with pytest.raises(AnonymizerError, match=r"infinite"):
        on_postgres(given("quasi"), types)
    made = on_postgres(given(w=KEPT), types)
    if value == "infinity":
        with pytest.raises(EngineError, match="Python has no counterpart"):
            made.df()


FRAMES = {
    "smallint": ("32767", "int16", "Int16"),
    "integer": ("2147483647", "int32", "Int32"),
    "bigint": ("9007199254740993", "int64", "Int64"),
    "boolean": ("true", "bool", "boolean"),
    "numeric(38)": ("9007199254740993", "object", "object"),
    "numeric": ("12345678901234567.25", "object", "object"),
    "double precision": ("0.1", "float64", "float64"),
    "date": ("date '2020-01-01'", "object", "object"),
}


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_holds_what_is_published(types: str, kind: str, nulls: bool) -> None:
    value, *dtypes = FRAMES[kind]
    filled(types, kind, f"case when {nulls} and i % 5 = 0 then null else {value} end")
    made = on_postgres(given(w=KEPT), types)
    published = [row for (row,) in query(types, "select w from kinds.typed_out")]
    frame = made.df()
    assert str(frame["w"].dtype) == dtypes[nulls]
    assert [None if pd.isna(one) else one for one in frame["w"]] == published
    assert [one for (one,) in made.relation().project("w").fetchall()] == published


def test_a_type_with_operators_of_its_own_is_in_no_condition(types: str) -> None:
    """citext, compared in the run, would be compared as text: 'HIV' would not be 'hiv'."""
    filled(types, "public.citext", "case when i % 5 = 0 then 'HIV' else 'flu' end")
    flagged = {
        "role": "quasi",
        "sensitive_when": "v = 'hiv' or q > 3",
        "protect": {"l_diversity": 2},
    }
    columns = {"v": {"role": "drop"}, "w": {"role": "drop"}, "x": {"role": "drop"}, "q": flagged}
    policy = given(columns=columns, algorithm={"name": "lgb"})
    said = "reads v, whose type comes with operators of its own"
    with pytest.raises(SourceError, match=said):
        anonymizer.plan(policy, types)
    # nor is anything else asked of such a condition
    columns["q"] = {**flagged, "sensitive_when": "v"}
    policy = given(columns=columns, algorithm={"name": "lgb"})
    with pytest.raises(SourceError, match=said) as raised:
        anonymizer.plan(policy, types)
    assert len(raised.value.problems) == 1


@pytest.mark.parametrize("columns", [36, 101, pytest.param(1590, marks=pytest.mark.slow)])
def test_many_columns_and_no_key(types: str, columns: int) -> None:
    names = [f"c{number}" for number in range(columns)]
    made = ", ".join(f"(i % {n % 7 + 2})::smallint as c{n}" for n in range(columns))
    query(types, "drop table if exists kinds.typed cascade")
    query(
        types,
        f"create table kinds.typed as select 'v' || i % 4 as v, 1 as w, 1 as x, i % 5 as q, {made}"
        " from generate_series(1, 80) i",
    )
    policy = given(PROTECTED).to_dict()
    policy["columns"] |= {name: {"role": "drop"} for name in names}
    assert on_postgres(Policy.model_validate(policy), types).verification.passed


def test_numerics_without_a_scale_are_exported_as_they_are(types: str, tmp_path: Path) -> None:
    filled(types, "numeric", "(i % 5) * 0.123456789 + 1000")
    policy = given(w=KEPT, engine="postgres")
    on_postgres(policy, types)
    file = tmp_path / "release.duckdb"
    export(policy, file, types)
    with duckdb.connect(str(file), read_only=True) as connection:
        carried = connection.execute("select distinct w from kinds.typed_out order by 1").fetchall()
    assert carried == query(types, "select distinct w from kinds.typed order by 1")
    query(types, "update kinds.typed set w = 'NaN' where q = 0")
    on_postgres(policy, types)
    with pytest.raises(EngineError, match="that no DECIMAL holds"):
        export(policy, tmp_path / "other.duckdb", types)
