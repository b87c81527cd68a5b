"""A correct release, forged in every way we could think of: each is noticed, and told.

By `verify POLICY`, by `verify` alone where a digest can see it, and by a signature always.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import TypeAdapter

import anonymizer
from anonymizer import Policy
from anonymizer.compile import Table
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import AnonymizerError, GuaranteeError, NothingToCheckError
from anonymizer.publish.export import export
from anonymizer.release.integrity import SealedObject, manifest_digest, stored_rows
from anonymizer.release.manifest import Manifest, stated_certificate
from anonymizer.release.signing import new_key
from anonymizer.review.report import write_report
from anonymizer.review.report.content import collect
from tests import runs
from tests.forging import COLUMNS, ROWS, TYPES, VIEW, Place, seal_again
from tests.independent.planted import RELEASES, asked, make
from tests.selection import some


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> Place[Policy]:
    folder = tmp_path_factory.mktemp("release")
    database = runs.source(folder, TYPES, ROWS)
    new_key(folder / "key.pem")
    # the newest format of files has the most kinds of objects
    policy = runs.policy(folder, COLUMNS, k=3, publish={"storage": "latest"})
    runs.run(policy, database, sign=folder / "key.pem")
    other = runs.policy(folder, COLUMNS, k=4, publish={"database": "other.duckdb"})
    runs.run(other, database, seed=2)
    return Place(folder, policy)


@pytest.fixture
def forged(correct: Place[Policy], tmp_path: Path) -> Place[Policy]:
    """A copy of the release, without the file of its manifest beside it."""
    for name in ("release.duckdb", "other.duckdb", "key.pem.pub"):
        shutil.copyfile(correct.folder / name, tmp_path / name)
    return Place(tmp_path, correct.policy)


def rows_table(connection: duckdb.DuckDBPyConnection) -> str:
    """The frozen table behind the view."""
    found = connection.execute(
        "select object_name from _anonymizer.objects where kind = 'rows'"
    ).fetchall()
    return f'"{found[0][0]}"'


def manifest(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    text = connection.execute(f"select manifest from {VIEW}_manifest").fetchall()[0][0]
    found: dict[str, Any] = json.loads(text)
    return found


def put(connection: duckdb.DuckDBPyConnection, data: dict[str, Any]) -> None:
    text = json.dumps(data, indent=2, sort_keys=True)
    connection.execute(f"update {VIEW}_manifest set manifest = ?", [text])


def reseal(data: dict[str, Any]) -> None:
    """What a forger does who knows how a seal is made."""
    data["seal"]["digest"] = manifest_digest(data)


# name: statements, in which {rows} is the frozen table; and what the message says
STATEMENTS: dict[str, tuple[list[str], str]] = {
    "a sensitive value of everybody": (["update {rows} set illness = 'v0'"], "values or their"),
    "one sensitive value": (
        ["update {rows} set illness = 'v9' where rowid = 7"],
        "rows of _people_anonymous",
    ),
    "a kept value": (["update {rows} set visits = visits + 1 where rowid = 0"], "not those that"),
    "all ages": (["update {rows} set age = '[1, 99]'"], "not those that were judged"),
    "a value to NULL": (["update {rows} set illness = null where rowid = 3"], "not those that"),
    "two rows exchanged": (
        ["create table t as from {rows} order by rowid",
         "update {rows} set illness = (select illness from t where t.rowid = 119 - {rows}.rowid),"
         " age = (select age from t where t.rowid = 119 - {rows}.rowid),"
         " sex = (select sex from t where t.rowid = 119 - {rows}.rowid),"
         " visits = (select visits from t where t.rowid = 119 - {rows}.rowid),"
         " class_id = (select class_id from t where t.rowid = 119 - {rows}.rowid)",
         "drop table t"],
        "their order",
    ),
    "rows in another order": (
        ["create table t as from {rows} order by age, visits", "drop view people_anonymous",
         "drop table {rows}", "alter table t rename to {rows}",
         "create view people_anonymous as"
         " select class_id, age, sex, illness, visits from main.{rows}"],
        "their order",
    ),
    "the last row deleted": (["delete from {rows} where rowid = 119"], "there are 119, and 120"),
    "the first row deleted": (["delete from {rows} where rowid = 0"], "there are 119, and 120"),
    "half of the rows deleted": (["delete from {rows} where rowid % 2 = 0"], "there are 60"),
    "one row doubled": (["insert into {rows} from {rows} limit 1"], "there are 121, and 120"),
    "all rows doubled": (["insert into {rows} from {rows}"], "there are 240, and 120 were"),
    "a class renumbered": (["update {rows} set class_id = class_id + 1"], "not those that"),
    "a class added": (
        ["insert into {rows} select 99, age, sex, illness, visits from {rows} where class_id = 1"],
        "and 120 were",
    ),
    "no rows": (["delete from {rows}"], "there are 0"),
    "the view with a where": (
        ["create or replace view people_anonymous as"
         " select class_id, age, sex, illness, visits from {rows} where illness <> 'v1'"],
        "people_anonymous is not the view that a run makes",
    ),
    "the view with a limit": (
        ["create or replace view people_anonymous as"
         " select class_id, age, sex, illness, visits from {rows} limit 50"],
        "people_anonymous is not the view that a run makes",
    ),
    "the view with a function": (
        ["create or replace view people_anonymous as"
         " select class_id, upper(age) as age, sex, illness, visits from {rows}"],
        "people_anonymous is not the view that a run makes",
    ),
    "the view over another table": (
        ["create table t as from {rows}", "create or replace view people_anonymous as"
         " select class_id, age, sex, illness, visits from t"],
        "table t, which no manifest lists",
    ),
    "the view with columns exchanged": (
        ["create or replace view people_anonymous as"
         " select class_id, age, illness as sex, sex as illness, visits from {rows}"],
        "people_anonymous is not the view that a run makes",
    ),
    "the view in another order of columns": (
        ["create or replace view people_anonymous as"
         " select age, class_id, sex, illness, visits from {rows}"],
        "view people_anonymous is not defined",
    ),
    "the view with a constant": (
        ["create or replace view people_anonymous as"
         " select class_id, age, sex, 'v0' as illness, visits from {rows}"],
        "people_anonymous is not the view that a run makes",
    ),
    "the view with a union": (
        ["create or replace view people_anonymous as"
         " select class_id, age, sex, illness, visits from {rows} union all"
         " select class_id, age, sex, illness, visits from {rows} where class_id = 1"],
        "people_anonymous is not the view that a run makes",
    ),
    "the view as a table": (
        ["create table t as from people_anonymous", "drop view people_anonymous",
         "alter table t rename to people_anonymous"],
        "lacks the view people_anonymous",
    ),
    "no view": (["drop view people_anonymous"], ""),
    "a column added to the rows": (
        ["alter table {rows} add column raw varchar default 'x'"],
        "a column raw that its manifest does not tell of",
    ),
    "the type of a column": (
        ["drop view people_anonymous", "alter table {rows} alter visits type bigint",
         "create view people_anonymous as select class_id, age, sex, illness, visits from {rows}"],
        "is not defined as it was published",
    ),
    "a collation": (
        ["create table t (class_id bigint, age varchar collate nocase, sex varchar,"
         " illness varchar, visits integer)", "insert into t from {rows}",
         "drop view people_anonymous", "drop table {rows}", "alter table t rename to {rows}",
         "create view people_anonymous as select class_id, age, sex, illness, visits from {rows}"],
        "is not defined as it was published",
    ),
    "a default": (
        ["alter table {rows} alter illness set default 'of Ada'"],
        "is not defined as it was published",
    ),
    "a constraint": (
        ["create table t (class_id bigint, age varchar, sex varchar, illness varchar,"
         " visits integer check (visits < 100))", "insert into t from {rows}",
         "drop view people_anonymous", "drop table {rows}", "alter table t rename to {rows}",
         "create view people_anonymous as select class_id, age, sex, illness, visits from {rows}"],
        "is not defined as it was published",
    ),
    "not null": (
        ["alter table {rows} alter visits set not null"],
        "is not defined as it was published",
    ),
    "a raw table": (["create table raw as select 1 as age"], "table raw, which no manifest lists"),
    "a table in a schema of its own": (
        ["create schema more", "create table more.raw as select 1 as age"],
        "schema more",
    ),
    "an empty schema": (["create schema more"], "schema more, which no manifest lists"),
    "another view": (["create view more as select 1 as x"], "view more, which no manifest lists"),
    "a macro": (["create macro more(x) as x + 1"], "function more"),
    "a macro in place of a function": (["create macro count(x) as 100"], "function count"),
    "a table macro": (["create macro more(x) as table select x as y"], "function more"),
    "an enum of raw values": (["create type more as enum ('Ada', 'Bob')"], "type more"),
    "a sequence": (["create sequence more start 42"], "sequence more"),
    "an index": (["create index more on {rows} (age)"], "index "),
    "a trigger": (
        ["create trigger more after insert on {rows} for each statement"
         " insert into people_anonymous_manifest values ('x', 'y')"],
        "trigger ",
    ),
    "a comment on the view": (
        ["comment on view people_anonymous is 'Ada is in class 3'"],
        "view people_anonymous is not defined as it was published",
    ),
    "a comment on the rows": (["comment on table {rows} is 'Ada'"], "is not defined as it was"),
    "a comment on a column": (
        ["comment on column {rows}.age is 'Ada is 33'"],
        "column _people_anonymous",
    ),
    "a comment on a column of the view": (
        ["comment on column people_anonymous.age is 'Ada'"],
        "column people_anonymous.age",
    ),
    "a comment on the manifest": (
        ["comment on table people_anonymous_manifest is 'Ada'"],
        "table people_anonymous_manifest is not defined",
    ),
    "a column of the manifest": (
        ["alter table people_anonymous_manifest add column raw varchar"],
        "people_anonymous_manifest",
    ),
    "a second manifest": (
        ["insert into people_anonymous_manifest from people_anonymous_manifest"],
        "is not one row",
    ),
    "no manifest": (["drop table people_anonymous_manifest"], "manifest"),
    "a row of the record": (
        ["insert into _anonymizer.objects values ('Ada', 'Bob', 'Eve', 'rows', '1')"],
        "does not list just the objects",
    ),
    "a column of the record": (
        ["alter table _anonymizer.objects add column raw varchar"],
        "table _anonymizer.objects is not defined",
    ),
    "a record of a table that came later": (
        ["create table raw as select 1 as age", "insert into _anonymizer.objects"
         " select release, 'main', 'raw', 'rows', run_id from _anonymizer.objects limit 1"],
        "raw ",
    ),
    "no record": (["drop table _anonymizer.objects"], "_anonymizer.objects"),
}  # fmt: skip


if duckdb.__version__.startswith("1."):
    del STATEMENTS["a trigger"]  # DuckDB has them since 2.0


def is_neither_handed_on_nor_quoted(forged: Place[Policy]) -> None:
    with pytest.raises(AnonymizerError):
        export(forged.policy, forged.folder / "out.parquet", forged.file)
    assert not list(forged.folder.glob("out.*"))
    with pytest.raises(AnonymizerError):
        write_report(forged.policy, forged.folder / "report.md", database=forged.file)
    assert not (forged.folder / "report.md").exists()


@some(1)
@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_on_the_file(forged: Place[Policy], name: str) -> None:
    statements, says = STATEMENTS[name]
    with duckdb.connect(str(forged.file)) as connection:
        rows = rows_table(connection)
        for statement in statements:
            connection.execute(statement.replace("{rows}", rows))
    with pytest.raises(AnonymizerError) as told:
        anonymizer.verify(forged.policy, forged.file)
    assert says in str(told.value)
    is_neither_handed_on_nor_quoted(forged)
    with pytest.raises(AnonymizerError):
        anonymizer.verify(None, forged.file)
    with pytest.raises(AnonymizerError):
        anonymizer.verify(None, forged.file, public_key=forged.key)


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all scalars in a manifest."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from leaves(value, (*path, number))
    else:
        yield path


def changed(data: dict[str, Any], path: tuple[Any, ...]) -> None:
    *above, last = path
    within: Any = data
    for step in above:
        within = within[step]
    value = within[last]
    if isinstance(value, bool):
        within[last] = not value
    elif isinstance(value, int | float):
        within[last] = value + 1
    else:
        within[last] = f"{value or ''}x"


@pytest.mark.slow
def test_every_field_of_the_manifest_one_by_one(forged: Place[Policy]) -> None:
    """Refused with the policy, without it, and as a field that changed: nothing of it is free."""
    with duckdb.connect(str(forged.file)) as connection:
        data = manifest(connection)
    places = list(leaves(data))
    assert len(places) > 150
    # what stands behind every place is sealed in one way: some of each kind are tried on a file
    for path in places:
        altered = json.loads(json.dumps(data))
        changed(altered, path)
        assert manifest_digest(altered) != altered["seal"]["digest"], path
    for path in places[:: len(places) // 12]:
        altered = json.loads(json.dumps(data))
        changed(altered, path)
        with duckdb.connect(str(forged.file)) as connection:
            put(connection, altered)
        for policy in (forged.policy, None):
            with pytest.raises(AnonymizerError, match=r"manifest|release|columns"):
                anonymizer.verify(policy, forged.file)


def _weaker(data: dict[str, Any]) -> None:
    k = next(one for one in data["requirements"] if one["name"] == "k_anonymity")
    k["parameters"]["k"] = 2


def _no_protection(data: dict[str, Any]) -> None:
    data["requirements"] = [one for one in data["requirements"] if one["column"] is None]


def _kept(data: dict[str, Any]) -> None:
    for column in data["layout"]["columns"]:
        column["role"] = "keep"


def _measure(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        data["measures"][name] = value

    return change


def _bound(value: Any) -> Callable[[dict[str, Any]], None]:
    """Another bound of the loss, and the sentence of the certificate that follows from it."""

    def change(data: dict[str, Any]) -> None:
        data["measures"]["ncp_bound"] = value
        data["certificate"] = stated_certificate(Manifest(data))

    return change


def _field(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        data[name] = value

    return change


def _check(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        data["verification"]["checks"][-1 if name == "passed" else 0][name] = value
        if name in ("achieved", "failing"):
            for check in data["verification"]["checks"]:
                if check["name"] == "k_anonymity":
                    check[name] = value

    return change


def _added(name: str, required: Any, achieved: Any = None) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        reached = required if achieved is None else achieved
        check = {"required": required, "achieved": reached, "column": None, "sql": None}
        check |= {"name": name, "passed": True, "failing": 0}
        data["verification"]["checks"].append(check)

    return change


def _not_alone(data: dict[str, Any]) -> None:
    data["seal"]["alone"] = False


def _definition(data: dict[str, Any]) -> None:
    for one in data["seal"]["objects"]:
        if "definition" in one:
            one["definition"] += " where true"


HUGE = 10**400
"""Beyond all doubles, which nothing can be compared with."""


def _layout(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        data["layout"][name] = value

    return change


def _column(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        data["layout"]["columns"][-1][name] = value

    return change


# what no manifest can hold: it is read by several commands, and none of them has to fail
ODD: dict[str, Callable[[dict[str, Any]], None]] = {
    "a loss that is a text": _measure("ncp.age", "much"),
    "a loss that is an object": _measure("ncp.sex", {"a": 1}),
    "a loss beyond all": _measure("ncp", HUGE),
    "a bound that is none": _measure("ncp_bound", HUGE),
    "an odd largest class": _measure("class_max", {"": None}),
    "an odd share": _measure("suppressed_share", "x"),
    "a list of rows": _measure("rows", [None]),
    "fewer than no rows": _measure("suppressed", -1),
    "no rows that are left out": lambda data: data["measures"].pop("suppressed"),
    "measures of tables that are none": _measure("tables", {"labs": 1}),
    "a figure beyond all": _measure("c_dm", HUGE),
    "an achieved figure beyond all": _check("achieved", HUGE),
    "a weight beyond all": _column("weight", HUGE),
    "a mask beyond all": _column("masks", [{"mask": "top_code", "at": HUGE}]),
    "a code beyond all": _column("top", HUGE),
    "a code that is none": _column("bottom", "a\0b"),
    "a layout of another algorithm": _layout("algorithm", "full_domain"),
    "another algorithm": _field("algorithm", "lgb"),
    "roles": _kept,
    "nodes in a column that is kept": _column("hierarchy", True),
    "lists in a column that is kept": _column("list_cells", True),
    "a kind of a column that is kept": _column("kind", "date"),
    "Safe Harbor that is null": _field("safe_harbor", None),
    "a count of failures that is a text": _check("failing", "none"),
    "a note on a check": _check("note", "Ada is in class 3"),
    "a field of its own": _field("epsilon", 0.1),
    "a day of no calendar": _field("created", "2026, differentially private"),
    "a day without a time": _field("created", "2026-01-01"),
    "a time of no zone": _field("created", "2026-01-01T00:00:00"),
    "a time to the microsecond": _field("created", "2026-01-01T00:00:00.123456+00:00"),
    "a version that is a figure": _field("versions", {"anonymizer": 1}),
    "no version of this tool": _field("versions", {"duckdb": "2.0"}),
    "neither reproducible nor not": _field("reproducible", "no"),
    "a run of another kind": _field("run_id", "Ada"),
    "attacks that are one text": _field("known_attacks", "none"),
    "files of an export": _field("export", {"files": [], "note": "anything"}),
    "tables that are null": _field("tables", None),
}


@some(4)
@pytest.mark.parametrize("name", ODD)
def test_what_no_manifest_holds(forged: Place[Policy], name: str) -> None:
    with duckdb.connect(str(forged.file)) as connection:
        data = manifest(connection)
        ODD[name](data)
        reseal(data)
        put(connection, data)
    for policy in (forged.policy, None):
        with pytest.raises(NothingToCheckError, match="manifest: cannot be read"):
            anonymizer.verify(policy, forged.file)
    with pytest.raises(NothingToCheckError, match="manifest: cannot be read"):
        write_report(forged.policy, forged.folder / "report.md", database=forged.file)


# what a forger changes who makes the seal anew; and what the message says with the policy
RESEALED: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "a weaker k": (_weaker, "manifest.requirements: are not those of the policy"),
    "no protection": (_no_protection, "manifest.requirements"),
    "another policy": (_field("policy_digest", "0" * 64), "policy: is not the one"),
    "no attacks": (_field("known_attacks", []), "manifest.known_attacks"),
    "a bolder certificate": (_field("certificate", "Anonymous."), "manifest.certificate"),
    "another view": (_field("view", "main.else"), "manifest.view"),
    "fewer rows": (_measure("rows", 100), "manifest.measures.rows"),
    "more classes": (_measure("classes", 100), "manifest.measures.classes"),
    "a larger class": (_measure("class_min", 50), "manifest.measures.class_min"),
    "another mean": (_measure("class_mean", 50.5), "manifest.measures.class_mean"),
    "another c_dm": (_measure("c_dm", 1), "manifest.measures.c_dm"),
    "a smaller loss": (_measure("ncp", 0.001), "manifest.measures.ncp: is not what"),
    "a smaller loss by another metric": (_measure("glm", 0.001), "manifest.measures.glm"),
    "a smaller loss of a column": (_measure("ncp.age", 0.001), "manifest.measures.ncp.age"),
    "no loss told": (lambda data: data["measures"].pop("ncp"), "manifest.measures.ncp"),
    "a bound above the loss": (_bound(0.9), "measures.ncp_bound: is above the ncp"),
    "a bound below nothing": (_bound(-0.1), "manifest.measures.ncp_bound"),
    "a bound that is no figure": (_bound(None), "manifest.measures.ncp_bound"),
    "a bound of nobody's loss": (
        lambda data: data["measures"].update(ncp_weighted_bound=0.1, ncp_weighted_bound_sample=0),
        "manifest.measures.ncp_weighted_bound: is above the ncp_weighted",
    ),
    "a bound without its sample": (
        lambda data: data["measures"].pop("ncp_bound_sample"),
        "manifest.measures.ncp_bound: is stated without ncp_bound_sample",
    ),
    "a sample of more than all": (
        _measure("ncp_bound_sample", 10**6),
        "manifest.measures.ncp_bound_sample: is no number of rows",
    ),
    "a share above one": (_measure("ncp_sets", 1.5), "manifest.measures.ncp_sets: is no share"),
    "half a level": (_measure("level.age", 1.5), "manifest.measures.level.age: is no count"),
    "a lattice of nothing": (_measure("lattice_nodes", -1), "measures.level.age: is not stated"),
    "a lattice's bound above its loss": (
        lambda data: data["measures"].update(lattice_loss=0.1, lattice_bound=0.2),
        "manifest.measures.lattice_bound: is no lower bound",
    ),
    "a time to come": (_field("created", "2999-01-01T00:00:00+00:00"), "manifest.created: is in"),
    "another share left out": (_measure("suppressed_share", 0.25), "measures.suppressed_share"),
    "more left out than the policy allows": (
        lambda data: data["measures"].update(suppressed=40, suppressed_share=0.25),
        "manifest.measures.suppressed: is more than the policy's",
    ),
    "a measure of nobody": (_measure("epsilon", 0.1), "manifest.measures.epsilon: is none of a"),
    "a level of no column": (_measure("level.Ada", 3), "manifest.measures.level.Ada: is none"),
    "SQL that finds nothing": (_check("sql", "select 1 where false"), "has other SQL"),
    "a check that is called otherwise": (_check("name", "very_safe"), "has other SQL"),
    "a better figure": (_check("achieved", 100), "states other figures"),
    "another count of failures": (_check("failing", 1), "states other figures"),
    "a guarantee that nobody asked for": (
        _added("differential_privacy", {"epsilon": 0.1}),
        "differential_privacy: is no check",
    ),
    "a source that was not as published": (_added("source_equal", 0, 3), "source_equal: is no"),
    "a check of the source that nobody makes": (
        _added("source_private", 0),
        "source_private: is no check",
    ),
    "a condition of form that is none": (_added("anonymous", 0), "anonymous: is no check"),
    "a check that failed": (_check("passed", False), "manifest.verification"),
    "a file of others": (_not_alone, ""),
    "a view with a condition": (_definition, "lists objects that cannot be"),
}


@some(1)
@pytest.mark.parametrize("name", RESEALED)
def test_a_manifest_that_was_sealed_again(forged: Place[Policy], name: str) -> None:
    change, says = RESEALED[name]
    with duckdb.connect(str(forged.file)) as connection:
        data = manifest(connection)
        change(data)
        reseal(data)
        put(connection, data)
        if name == "a file of others":
            connection.execute("create table raw as select 1 as age")
    with pytest.raises(GuaranteeError) as told:
        anonymizer.verify(forged.policy, forged.file)
    assert says in str(told.value)
    is_neither_handed_on_nor_quoted(forged)
    with pytest.raises(GuaranteeError, match="signature is not that of this key"):
        anonymizer.verify(None, forged.file, public_key=forged.key)


@some(2)
@pytest.mark.parametrize("parameters", [{}, {"k": {}}, {"l": [1]}, {"k": None}])
def test_requirements_of_another_version(forged: Place[Policy], parameters: Any) -> None:
    """What cannot be judged is refused."""
    with duckdb.connect(str(forged.file)) as connection:
        data = manifest(connection)
        data["versions"]["anonymizer"] = "0.0.1"
        for asked in data["requirements"]:
            asked["parameters"] = parameters
        reseal(data)
        put(connection, data)
    for policy in (forged.policy, None):
        with pytest.raises(GuaranteeError, match=r"manifest\.requirements"):
            anonymizer.verify(policy, forged.file)


def test_sql_of_a_manifest_that_names_another_version(forged: Place[Policy]) -> None:
    """Recipients run it, and anybody can write a version: its SQL is compared all the same."""
    with duckdb.connect(str(forged.file)) as connection:
        data = manifest(connection)
        _check("sql", "select 1 where false")(data)
        data["versions"]["anonymizer"] = "0.0.1"
        reseal(data)
        put(connection, data)
    for policy in (forged.policy, None):
        with pytest.raises(GuaranteeError, match=r"has other SQL .* verify it with that one"):
            anonymizer.verify(policy, forged.file)
    is_neither_handed_on_nor_quoted(forged)


@pytest.mark.slow
def test_a_report_of_what_does_not_hold_believes_nothing(tmp_path: Path) -> None:
    """What its manifest states of checks is not compared with what fails anyway."""
    file = make("mondrian", tmp_path)
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"update {rows_table(connection)} set disease = 'flu'")
        data = manifest(connection)
        for check in data["verification"]["checks"]:
            check["required"] = 0.5
        put(connection, data)
    seal_again(file, VIEW)
    found = collect(asked("mondrian", tmp_path), str(file), None)
    assert not found.verification.passed


def test_rows_that_were_sealed_again_need_a_signature(forged: Place[Policy]) -> None:
    """What keeps every guarantee and every figure is a release as good; only a key tells it."""
    with duckdb.connect(str(forged.file)) as connection:
        rows = rows_table(connection)
        connection.execute(f"update {rows} set visits = 6 - visits")
    seal_again(forged.file, VIEW)
    assert anonymizer.verify(None, forged.file).origin == "unknown"
    assert anonymizer.verify(forged.policy, forged.file).passed
    with pytest.raises(GuaranteeError, match="is not signed"):
        anonymizer.verify(forged.policy, forged.file, public_key=forged.key)


RAW = [["age", "INTEGER"], ["who", "VARCHAR"]]


def listed(sealed: SealedObject) -> dict[str, Any]:
    """An object as a seal lists it."""
    kind = TypeAdapter(SealedObject)
    return dict(kind.dump_python(sealed, mode="json", exclude_defaults=True))


def raw_object(connection: duckdb.DuckDBPyConnection, name: str, kind: str) -> dict[str, Any]:
    """A raw table, as a seal lists it."""
    connection.execute(f"create table {name} as select 33 as age, 'Ada' as who")
    engine = DuckDBEngine(connection, owns_connection=True)
    catalog = str(connection.execute("select current_catalog()").fetchall()[0][0])
    columns = tuple((column, of) for column, of in RAW)
    rows = stored_rows(engine, Table(name, "main", catalog), columns)
    return listed(SealedObject("main", name, kind, columns, rows=rows))


def record(connection: duckdb.DuckDBPyConnection, *row: str) -> None:
    connection.execute("insert into _anonymizer.objects values (?, 'main', ?, ?, ?)", row)


@some(1)
@pytest.mark.parametrize("kind", ["values", "rows", "view", "manifest"])
def test_a_raw_table_that_the_seal_lists(forged: Place[Policy], kind: str) -> None:
    """A file holds what a release of its layout has, whatever its own seal says."""
    with duckdb.connect(str(forged.file)) as connection:
        data = manifest(connection)
        data["seal"]["objects"].append(raw_object(connection, "raw", kind))
        record(connection, data["view"], "raw", kind, data["run_id"])
        reseal(data)
        put(connection, data)
    for policy in (forged.policy, None):
        with pytest.raises(GuaranteeError, match=r"other objects than|a column who"):
            anonymizer.verify(policy, forged.file)
    with pytest.raises(AnonymizerError):
        export(forged.policy, forged.folder / "out.parquet", forged.file)


@pytest.mark.parametrize("view", ["main.raw", "main.people_anonymous"])
def test_a_raw_table_that_the_seal_of_another_release_lists(
    forged: Place[Policy], view: str
) -> None:
    """Its seal vouches for nothing that its manifest does not tell of."""
    with duckdb.connect(str(forged.file)) as connection:
        data = manifest(connection)
        data |= {"view": view, "run_id": "ff"}
        connection.execute("create table raw_manifest (manifest varchar)")
        kept = SealedObject("main", "raw_manifest", "manifest", (("manifest", "VARCHAR"),))
        data["seal"]["objects"] = [raw_object(connection, "raw", "view"), listed(kept)]
        record(connection, "main.raw", "raw", "view", "ff")
        record(connection, "main.raw", "raw_manifest", "manifest", "ff")
        reseal(data)
        text = json.dumps(data, indent=2, sort_keys=True)
        connection.execute("insert into raw_manifest values (?)", [text])
    for key in (None, forged.key):
        with pytest.raises(GuaranteeError, match="in the same file: raw has a column who"):
            anonymizer.verify(forged.policy, forged.file, public_key=key)
    with pytest.raises(GuaranteeError, match="in the same file"):
        export(forged.policy, forged.folder / "out.parquet", forged.file)


@pytest.fixture
def neighbours(
    correct: Place[Policy], forged: Place[Policy]
) -> Callable[[Path | None], Place[Policy]]:
    """A signed release, and a second one in its file that was published after it."""

    def publish(key: Path | None) -> Place[Policy]:
        other = runs.policy(forged.folder, COLUMNS, k=4, publish={"name": "second"})
        runs.run(other, correct.folder / "source.duckdb", seed=2, sign=key)
        return forged

    return publish


@pytest.mark.slow
def test_another_release_in_the_file_is_told_of(
    correct: Place[Policy], neighbours: Callable[[Path | None], Place[Policy]]
) -> None:
    place = neighbours(correct.folder / "key.pem")
    assert anonymizer.verify(None, place.file).others == ()
    for key in (None, place.key):
        found = anonymizer.verify(place.policy, place.file, public_key=key)
        assert (found.passed, found.others) == (True, ("main.second",))
        assert found.as_dict()["others"] == ["main.second"]
        assert "main.second" in repr(found)


def test_another_release_in_the_file_that_nobody_signed(
    neighbours: Callable[[Path | None], Place[Policy]],
) -> None:
    """Anybody could have added it, and it can hold anything that a manifest can tell of."""
    place = neighbours(None)
    assert anonymizer.verify(place.policy, place.file).others == ("main.second",)
    for policy in (place.policy, None):
        with pytest.raises(GuaranteeError, match="is not signed"):
            anonymizer.verify(policy, place.file, public_key=place.key)


def test_a_manifest_of_another_release_that_was_changed(
    neighbours: Callable[[Path | None], Place[Policy]],
) -> None:
    place = neighbours(None)
    with duckdb.connect(str(place.file)) as connection:
        connection.execute(
            "update second_manifest set manifest = replace(manifest, '\"algorithm\"', '\"x\"')"
        )
    with pytest.raises(AnonymizerError, match="manifest"):
        anonymizer.verify(place.policy, place.file)


def test_the_manifest_of_another_release(forged: Place[Policy]) -> None:
    with duckdb.connect(str(forged.folder / "other.duckdb"), read_only=True) as connection:
        other = manifest(connection)
    with duckdb.connect(str(forged.file)) as connection:
        put(connection, other)
    for policy in (forged.policy, None):
        with pytest.raises(AnonymizerError):
            anonymizer.verify(policy, forged.file)


def test_two_releases_exchanged(forged: Place[Policy]) -> None:
    shutil.copyfile(forged.folder / "other.duckdb", forged.file)
    with pytest.raises(GuaranteeError, match="policy: is not the one"):
        anonymizer.verify(forged.policy, forged.file)
    with pytest.raises(GuaranteeError, match="is not signed"):
        anonymizer.verify(None, forged.file, public_key=forged.key)


def test_white_space_and_keys_that_stand_twice(forged: Place[Policy]) -> None:
    with duckdb.connect(str(forged.file)) as connection:
        text = json.dumps(manifest(connection), indent=2, sort_keys=True)
        twice = text.replace("{", '{\n  "view": "main.safe",', 1)
        connection.execute(f"update {VIEW}_manifest set manifest = ?", [twice])
    with pytest.raises(GuaranteeError, match="not written as this tool writes it"):
        anonymizer.verify(None, forged.file)


@pytest.mark.parametrize("form", [1, 3, None, "2"])
def test_a_manifest_of_another_format(forged: Place[Policy], form: Any) -> None:
    with duckdb.connect(str(forged.file)) as connection:
        data = manifest(connection)
        data["format"] = form
        reseal(data)
        put(connection, data)
    with pytest.raises(NothingToCheckError, match=r"manifest\.format: is not 2"):
        anonymizer.verify(forged.policy, forged.file)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{}", "[]", "null", "", "\x00", '{"seal": 1}', "1e999", '{"layout": {}}'],
    ids=range(9),
)
def test_a_manifest_that_is_none(forged: Place[Policy], text: str) -> None:
    with duckdb.connect(str(forged.file)) as connection:
        connection.execute(f"update {VIEW}_manifest set manifest = ?", [text])
    for policy in (forged.policy, None):
        with pytest.raises(AnonymizerError, match="manifest") as told:
            anonymizer.verify(policy, forged.file)
        assert told.value.exit_code in (1, 2)


def _rows(name: str, value: Any) -> dict[str, Any]:
    digest = {"rows": 1, "sha256": "", "definition": "", name: value}
    one = {"schema": "main", "name": "x", "kind": "rows", "columns": [], "rows": digest}
    return {"version": 1, "alone": True, "objects": [one], "digest": ""}


@pytest.mark.parametrize(
    "seal",
    [
        *(None, 1, {}, {"version": 2}, {"version": 1, "objects": [1]}),
        *(_rows("rows", "many"), _rows("definition", [[]]), _rows("numbered", [1])),
    ],
    ids=range(8),
)
def test_a_seal_that_is_none(forged: Place[Policy], seal: Any) -> None:
    with duckdb.connect(str(forged.file)) as connection:
        data = manifest(connection)
        del data["seal"]
        if seal is not None:
            data["seal"] = seal
        put(connection, data)
    for policy in (forged.policy, None):
        with pytest.raises(GuaranteeError, match="has no seal that can be read"):
            anonymizer.verify(policy, forged.file)


@some(1)
@pytest.mark.parametrize("suffix", ["manifest.json", "manifest.sig"])
@pytest.mark.parametrize("text", ["{}\n", None], ids=["other", "of another release"])
def test_a_file_beside_the_release_that_says_something_else(
    forged: Place[Policy], correct: Place[Policy], suffix: str, text: str | None
) -> None:
    beside = forged.folder / f"{VIEW}.{suffix}"
    shutil.copyfile(correct.folder / "release.duckdb", forged.file)
    if text is None:
        with duckdb.connect(str(forged.folder / "other.duckdb"), read_only=True) as connection:
            text = json.dumps(manifest(connection), indent=2, sort_keys=True) + "\n"
    beside.write_text(text)
    with pytest.raises(GuaranteeError, match=f"{VIEW}.{suffix} beside it is not that"):
        anonymizer.verify(forged.policy, forged.file)
    with pytest.raises(GuaranteeError, match=f"{VIEW}.{suffix} beside it is not that"):
        export(forged.policy, forged.folder / "out.parquet", forged.file)
    with pytest.raises(GuaranteeError, match=f"{VIEW}.{suffix} beside it is not that"):
        write_report(forged.policy, forged.folder / "report.md", database=forged.file)


def test_figures_that_only_the_source_shows_are_named(forged: Place[Policy]) -> None:
    """What nobody can find again in the release is said to be unverified, and nothing else."""
    found = anonymizer.verify(forged.policy, forged.file)
    source = {check for check in found.unverified if check.startswith("source_")}
    assert {"source_rows", "source_covers", "source_equal"} <= source
    assert {*found.unverified} - source == {
        *("ncp_bound", "ncp_bound_sample", "suppressed", "suppressed_share"),
        *("created", "reproducible", "versions"),
    }
    assert found.as_dict()["unverified"] == [*found.unverified]
    assert "suppressed_share" in repr(found)


def test_losses_of_nodes_are_named(tmp_path: Path) -> None:
    """How many values a node stands for is not in the release; a loss is a share all the same."""
    database = runs.source(tmp_path, TYPES, ROWS)
    tree = {"builder": "prefix"}
    policy = runs.policy(tmp_path, {**COLUMNS, "sex": {"role": "quasi", "hierarchy": tree}}, k=3)
    runs.run(policy, database)
    file = tmp_path / "release.duckdb"
    found = anonymizer.verify(policy, file)
    assert {"ncp", "glm", "ncp.sex"} <= {*found.unverified}
    assert "ncp.age" not in found.unverified
    for name, value in (("ncp.sex", -0.5), ("ncp", 7), ("ncp.age", 0.001), ("ncp_nodes", 0.001)):
        with duckdb.connect(str(file)) as connection:
            data = manifest(connection)
            data["measures"][name] = value
            put(connection, data)
        seal_again(file, VIEW)
        with pytest.raises(GuaranteeError, match=f"manifest.measures.{name}"):
            anonymizer.verify(policy, file)


@some(2)
@pytest.mark.parametrize("name", ["ncp.sex", "ncp", "ncp_sum", "glm", "glm_sum"])
def test_losses_of_nodes_are_no_less_than_the_release_shows(tmp_path: Path, name: str) -> None:
    """Whatever a tree may be: `*` loses everything."""
    codes = [(40, f"{age % 7}{sex}", ill, visits) for age, sex, ill, visits in ROWS]
    tree = {"role": "quasi", "hierarchy": {"builder": "prefix"}}
    policy = runs.policy(tmp_path, {**COLUMNS, "sex": tree}, k=90)
    runs.run(policy, runs.source(tmp_path, TYPES, codes))
    file = tmp_path / "release.duckdb"
    assert anonymizer.verify(policy, file).passed
    with duckdb.connect(str(file)) as connection:
        assert connection.execute(f"select distinct sex from {VIEW}").fetchall() == [("*",)]
        data = manifest(connection)
        assert data["measures"]["ncp.sex"] == 1
        data["measures"][name] *= 0.7
        data["certificate"] = stated_certificate(Manifest(data))
        put(connection, data)
    seal_again(file, VIEW)
    with pytest.raises(GuaranteeError, match=f"manifest.measures.{name}: is not what the release"):
        anonymizer.verify(policy, file)


def test_the_release_itself_holds(forged: Place[Policy]) -> None:
    found = anonymizer.verify(forged.policy, forged.file)
    assert (found.passed, found.origin) == (True, "policy")
    assert anonymizer.verify(None, forged.file).origin == "unknown"
    found = anonymizer.verify(None, forged.file, public_key=forged.key)
    assert (found.passed, found.origin) == (True, "signature")


@pytest.mark.slow
def test_whoever_reads_a_release_looks_at_its_seal(
    forged: Place[Policy], correct: Place[Policy]
) -> None:
    from anonymizer.review.attack import attack

    with duckdb.connect(str(forged.file)) as connection:
        connection.execute(f"update {rows_table(connection)} set illness = 'v1'")
    source = correct.folder / "source.duckdb"
    with pytest.raises(GuaranteeError, match="not those that were judged"):
        export(forged.policy, forged.folder / "out.parquet", forged.file)
    with pytest.raises(GuaranteeError, match="not those that were judged"):
        collect(forged.policy, str(forged.file), None)
    with pytest.raises(GuaranteeError, match="not those that were judged"):
        attack(forged.policy, source, release=forged.file)
    # (beside the correct one lies the manifest file of another release)
    kept = forged.folder / "kept"
    kept.mkdir()
    release = Path(shutil.copy(correct.folder / "release.duckdb", kept))
    with pytest.raises(GuaranteeError, match="not those that were judged"):
        attack(forged.policy, source, release=release, earlier=forged.file)


@some(0)
@pytest.mark.parametrize("name", list(RELEASES))
def test_a_correct_release_of_every_form_holds(tmp_path: Path, name: str) -> None:
    """No false alarm: what was written is what is made again from the manifest as it is read."""
    file = make(name, tmp_path)
    assert anonymizer.verify(asked(name, tmp_path), file).passed
    assert anonymizer.verify(None, file).passed


def test_a_file_of_its_own_has_nothing_else(forged: Place[Policy]) -> None:
    """Its seal says so, whether or not the reader has the policy."""
    file = forged.folder / "release.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("create table notes as select 'somebody' as said")
    with pytest.raises(GuaranteeError, match="notes"):
        anonymizer.verify(None, file)
