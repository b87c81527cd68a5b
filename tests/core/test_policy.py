"""Good policies: every option, defaults, presets, immutability, digest, schema."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from anonymizer.errors import PolicyError
from anonymizer.policy import FrozenMap, Lgb, Mondrian, Msb, Policy, TCloseness

EXAMPLE = """\
version: 1
source: {table: main.visits}          # or {file: visits.parquet}, or {query: "select ..."}
key: visit_id
person: patient_id
columns:
  patient_id: {role: drop}
  visit_id:   {role: drop}
  name:       {role: identifier}      # never published
  hide_zip:   {role: drop}
  consent_sex: {role: drop}
  age:        {role: quasi, kind: numeric, hierarchy: {builder: cardinality}}
  zip:        {role: quasi, kind: categorical, hierarchy: {builder: prefix},
               sensitive_when: hide_zip, protect: {l_diversity: 3}}
  sex:        {role: quasi, sensitive_when: "consent_sex is false", protect: {t_closeness: 0.2}}
  disease:    {role: sensitive, protect: {l_diversity: 3}}
  weight:     {role: keep}            # published as it is
privacy: {k_anonymity: 5}
suppression_limit: 0.05
algorithm: {name: lgb, generalization: mdp}
publish: {name: visits_anonymous, schema: published, database: release.duckdb}
"""

SMALL: dict[str, Any] = {
    "version": 1,
    "source": {"table": "main.visits"},
    "columns": {"age": {"role": "quasi"}},
    "privacy": {"k_anonymity": 2},
}


def small(**sections: Any) -> Policy:
    return Policy.model_validate({**copy.deepcopy(SMALL), **sections})


def quasi(**options: Any) -> dict[str, Any]:
    return {"columns": {"age": {"role": "quasi", **options}}}


def sensitive(**rules: Any) -> dict[str, Any]:
    columns = {"age": {"role": "quasi"}, "job": {"role": "sensitive", "protect": rules}}
    return {"columns": columns}


def test_example() -> None:
    policy = Policy.loads(EXAMPLE, base=Path("/policies"))
    assert policy.key == "visit_id"
    assert policy.person == "patient_id"
    assert policy.quasi == ("age", "zip", "sex")
    assert policy.semi_sensitive == ("zip", "sex")
    assert policy.sensitive == ("disease",)
    assert policy.kept == ("weight",)
    assert policy.protected == ("zip", "sex", "disease")
    assert policy.publish.schema_ == "published"
    assert isinstance(policy.algorithm, Lgb)
    assert policy.base == Path("/policies")
    assert policy.source.parts == ("main", "visits")
    sex = policy.columns["sex"].protect
    assert sex is not None
    assert sex.t_closeness == TCloseness(t=0.2, distance="equal")


def test_defaults() -> None:
    policy = small()
    assert policy.engine == "duckdb"
    assert policy.algorithm == Mondrian(name="mondrian", split="loss", strict=True)
    assert policy.suppression_limit == 0
    assert policy.publish.name == "visits_anonymous"
    assert policy.publish.schema_ == "main"
    assert policy.publish.database is None
    assert policy.publish.cells == "text"
    assert policy.columns["age"].nulls == "own_class"
    assert policy.preset is policy.key is policy.person is policy.ledger is None
    assert policy.merge_person_rows is False
    assert policy.base == Path()


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ({"table": "visits"}, "visits_anonymous"),
        ({"table": "lake.main.visits"}, "visits_anonymous"),
        ({"table": '"a.b"."my ""own"" table"'}, 'my "own" table_anonymous'),
        ({"file": "in/visits.parquet"}, "visits_anonymous"),
        ({"file": "visits.2024.CSV"}, "visits.2024_anonymous"),
    ],
)
def test_release_name(source: dict[str, str], name: str) -> None:
    assert small(source=source).publish.name == name


@pytest.mark.parametrize(
    ("sections", "place", "value"),
    [
        ({"engine": "spark"}, "engine", "spark"),
        ({"source": {"file": "a.json"}}, "source.format", "json"),
        ({"source": {"query": "from t"}, "publish": {"name": "x"}}, "source.kind", "query"),
        (quasi(kind="date"), "columns.age.kind", "date"),
        (quasi(nulls="forbid"), "columns.age.nulls", "forbid"),
        (quasi(hierarchy={"file": "a.csv"}), "columns.age.hierarchy.builder", "taxonomy"),
        (quasi(hierarchy={"table": "main.h"}), "columns.age.hierarchy.table", "main.h"),
        (
            quasi(hierarchy={"builder": "conventional", "min_width": 5, "domain": [0, 100]}),
            "columns.age.hierarchy.domain",
            (0, 100),
        ),
        (
            quasi(hierarchy={"builder": "divisor", "divisors": [5, 25, 100]}),
            "columns.age.hierarchy.divisors",
            (5, 25, 100),
        ),
        (
            quasi(hierarchy={"builder": "divisor", "mode": "independent", "divisors": [20, 25]})
            | {"algorithm": {"name": "full_domain"}},
            "columns.age.hierarchy.mode",
            "independent",
        ),
        (quasi(hierarchy={"builder": "on_the_fly"}), "columns.age.hierarchy.builder", "on_the_fly"),
        (quasi(hierarchy={"builder": "frequency"}), "columns.age.hierarchy.builder", "frequency"),
        (
            quasi(hierarchy={"builder": "prefix", "lengths": [3, 1]}),
            "columns.age.hierarchy.lengths",
            (3, 1),
        ),
        (quasi(hierarchy={"builder": "suffix", "step": 2}), "columns.age.hierarchy.step", 2),
        (
            quasi(hierarchy={"builder": "date"}),
            "columns.age.hierarchy.levels",
            ("day", "month", "quarter", "year", "decade"),
        ),
        (
            quasi(hierarchy={"builder": "intervals", "cuts": [18, 65.5], "bottom": 18, "top": 90}),
            "columns.age.hierarchy.cuts",
            (18, 65.5),
        ),
        (
            quasi(hierarchy={"builder": "order", "values": ["a", 1, True, 1.5]}),
            "columns.age.hierarchy.values",
            ("a", 1, True, 1.5),
        ),
        (sensitive(l_diversity=3), "columns.job.protect.l_diversity", 3),
        (sensitive(entropy_l=2.5), "columns.job.protect.entropy_l", 2.5),
        (sensitive(recursive_cl={"c": 4, "l": 3}), "columns.job.protect.recursive_cl.c", 4.0),
        (sensitive(t_closeness=0), "columns.job.protect.t_closeness.t", 0.0),
        (
            sensitive(t_closeness={"t": 0.2, "distance": "ordered"}),
            "columns.job.protect.t_closeness.distance",
            "ordered",
        ),
        (sensitive(alpha=0.5, l_diversity=2), "columns.job.protect.alpha", 0.5),
        (sensitive(beta_likeness=1), "columns.job.protect.beta_likeness", 1.0),
        (sensitive(delta_disclosure=1.5), "columns.job.protect.delta_disclosure", 1.5),
        ({"privacy": {"k_map": {"k": 3, "population": "main.p"}}}, "privacy.k_map.k", 3),
        (
            {"privacy": {"k_map": {"k": 3, "population": "p.csv"}}},
            "privacy.k_map.population.file",
            "p.csv",
        ),
        (
            {"privacy": {"delta_presence": {"min": 0, "max": 0.5, "population": {"table": "p"}}}},
            "privacy.delta_presence.population.table",
            "p",
        ),
        ({"algorithm": {"name": "mondrian", "split": "median"}}, "algorithm.split", "median"),
        ({"algorithm": {"name": "mondrian", "strict": False}}, "algorithm.strict", False),
        (
            {"algorithm": {"name": "lgb", "generalization": "ncp", "rebalance": True}},
            "algorithm.rebalance",
            True,
        ),
        (
            {"algorithm": {"name": "lgb", "ranges": "tight", "small_patterns": "suppress"}},
            "algorithm.ranges",
            "tight",
        ),
        ({"publish": {"cells": "typed"}}, "publish.cells", "typed"),
        ({"publish": {"replace_source": True}}, "publish.replace_source", True),
        ({"engine": "postgres", "publish": {"grant_select": "r"}}, "publish.grant_select", "r"),
        (
            {"engine": "postgres", "publish": {"grant_select": ["r", "s"]}},
            "publish.grant_select",
            ("r", "s"),
        ),
        ({"workload": {"sql": "w.sql"}}, "workload.file", "w.sql"),
        ({"workload": {"sql": ["select 1", "select 2"]}}, "workload.queries", None),
        ({"ledger": "private.duckdb"}, "ledger", "private.duckdb"),
        ({"suppression_limit": 1}, "suppression_limit", 1.0),
    ],
)
def test_options(sections: dict[str, Any], place: str, value: Any) -> None:
    policy = small(**sections)
    found: Any = policy
    for step in place.split("."):
        found = found[step] if isinstance(found, FrozenMap) else getattr(found, step)
    assert found == (("select 1", "select 2") if value is None else value)
    assert Policy.model_validate(policy.to_dict()) == policy


def with_hierarchy(**options: Any) -> dict[str, Any]:
    return quasi(hierarchy={"builder": "cardinality"}, **options)


def person(model: dict[str, Any], algorithm: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "person": "who",
        "columns": {
            "who": {"role": "drop"},
            "age": {"role": "quasi", "hierarchy": {"builder": "cardinality"}},
            "job": {"role": "sensitive"},
        },
        "privacy": model,
        "algorithm": algorithm or {"name": "mondrian"},
    }


MSB_COLUMNS = {
    "age": {"role": "quasi"},
    "job": {"role": "sensitive", "protect": {"levels": {2: ["HIV"], 0: [1, 2.5]}}},
    "own": {"role": "sensitive", "protect": {"levels": {1: [True]}, "default_level": 0}},
}
MSB_PRIVACY = {"level_l": {0: 1, 1: 2, 2: 3}}


@pytest.mark.parametrize(
    "sections",
    [
        {"algorithm": {"name": "full_domain", "optimum": "dcp"}, **with_hierarchy()},
        {
            "algorithm": {
                "name": "privacyfrost",
                "score": "eta",
                "d": 1.5,
                "p": 2,
                "presampling_k": 10,
                "partial_domain": False,
                "tie_break": "sum",
            },
            **with_hierarchy(priority=10, minimum_level=1, presampling_level=2),
        },
        {
            "algorithm": {
                "name": "msb",
                "strategy": "msdcf",
                "mode": "exact",
                "generalize": {"k": 5},
                "allow_singletons": True,
            },
            "columns": MSB_COLUMNS,
            "privacy": MSB_PRIVACY,
        },
        {"algorithm": {"name": "msb"}, "privacy": {}, **sensitive(l_diversity=3)},
        person({"ir_k": 5}),
        person({"ir_kl": {"k": 5, "l": 3}}, {"name": "danonyir"}),
        person({"ir_alpha_beta": {"alpha": 0.5, "beta": 0.4}}, {"name": "geneir"}),
        person({"eir_l": 3}, {"name": "danonyir", "block_size": "all"}),
        person({"eir_alpha_beta": {"alpha": 0.5, "beta": 0.4}}, {"name": "lgb"})
        | {"privacy": {"k_anonymity": 5, "eir_alpha_beta": {"alpha": 0.5, "beta": 0.4}}},
        person({"alpha_k": {"alpha": 0.5, "k": 3, "value": "HIV"}}),
        person({"k_anonymity": 3}) | {"merge_person_rows": True},
        person({"k_anonymity": 3}) | {"republish": {"m": 3}, "ledger": "l.duckdb"},
        person({"k_anonymity": 3}) | {"republish": {"append_only": True}, "ledger": "l.duckdb"},
        {"preset": "external", "privacy": {}},
    ],
)
def test_round_trip(sections: dict[str, Any]) -> None:
    policy = small(**sections)
    again = Policy.model_validate(policy.to_dict())
    assert again == policy
    assert again.digest() == policy.digest()
    assert again.to_dict() == policy.to_dict()
    assert hash(again) == hash(policy)
    assert Policy.model_validate(policy) is policy
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert copy.deepcopy(policy) == policy


def test_msb_orders_by_level_where_there_are_levels() -> None:
    leveled = small(algorithm={"name": "msb"}, columns=MSB_COLUMNS, privacy=MSB_PRIVACY)
    assert isinstance(leveled.algorithm, Msb)
    assert leveled.algorithm.security_level_first
    plain = small(algorithm={"name": "msb"}, privacy={}, **sensitive(l_diversity=3))
    assert isinstance(plain.algorithm, Msb)
    assert not plain.algorithm.security_level_first


@pytest.mark.parametrize(("preset", "k", "l_diversity"), [("internal", 5, 2), ("external", 11, 3)])
def test_presets(preset: str, k: int, l_diversity: int) -> None:
    columns = {
        "age": {"role": "quasi"},
        "job": {"role": "sensitive"},
        "own": {"role": "sensitive", "protect": {"t_closeness": 0.3}},
    }
    given = {"version": 1, "source": {"table": "t"}, "columns": columns, "preset": preset}
    policy = Policy.model_validate(given)
    assert policy.privacy.k_anonymity == k
    assert policy.suppression_limit == 0.05
    job, own = policy.columns["job"].protect, policy.columns["own"].protect
    assert job is not None
    assert job.l_diversity == l_diversity
    assert own is not None
    assert own.l_diversity is None
    stated = {**given, "privacy": {"k_anonymity": 7}, "suppression_limit": 0}
    policy = Policy.model_validate(stated)
    assert policy.privacy.k_anonymity == 7
    assert policy.suppression_limit == 0


def test_preset_from_the_caller(tmp_path: Path) -> None:
    file = tmp_path / "p.yml"
    file.write_text("version: 1\nsource: {table: t}\ncolumns: {a: {role: quasi}}\n")
    with pytest.raises(PolicyError, match="no guarantee"):
        Policy.load(file)
    assert Policy.load(file, preset="internal").privacy.k_anonymity == 5
    with pytest.raises(PolicyError, match="is not a preset"):
        Policy.load(file, preset="secret7731")


def test_no_k_without_a_preset() -> None:
    policy = small(privacy={}, **sensitive(l_diversity=2))
    assert policy.privacy.k_anonymity is None
    assert policy.suppression_limit == 0


def test_frozen_all_the_way_down() -> None:
    policy = Policy.loads(EXAMPLE)
    with pytest.raises(ValidationError):
        policy.engine = "spark"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        policy.columns["age"].role = "keep"  # type: ignore[misc]
    with pytest.raises(TypeError):
        policy.columns["age"] = policy.columns["sex"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        policy.columns.other = 1
    assert isinstance(policy.quasi, tuple)


def test_later_changes_of_the_input_do_not_reach_in() -> None:
    given = copy.deepcopy(SMALL) | quasi(hierarchy={"builder": "order", "values": ["a", "b"]})
    policy = Policy.model_validate(given)
    digest = policy.digest()
    given["columns"]["age"]["hierarchy"]["values"].append("c")
    given["columns"]["new"] = {"role": "drop"}
    assert list(policy.columns) == ["age"]
    assert policy.digest() == digest


def test_constructor_reports_like_the_reader() -> None:
    with pytest.raises(PolicyError, match="version: is not a version"):
        Policy(version=2, source={}, columns={})  # type: ignore[arg-type]


def test_digest_is_stable() -> None:
    policy = Policy.loads(EXAMPLE, base="/one/place")
    assert policy.digest() == Policy.loads(EXAMPLE, base="/another").digest()
    assert re.fullmatch("[0-9a-f]{64}", policy.digest())
    assert small().digest() == small(engine="duckdb", suppression_limit=0.0).digest()
    assert small().digest() == small(algorithm={"name": "mondrian", "split": "loss"}).digest()
    code = f"from anonymizer.policy import Policy; print(Policy.model_validate({SMALL!r}).digest())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == small().digest()


def test_digest_tells_policies_apart() -> None:
    two = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}}
    policies = [
        small(),
        small(algorithm={"name": "mondrian", "split": "median"}),
        small(algorithm={"name": "lgb"}),
        small(privacy={"k_anonymity": 3}),
        small(columns=two),
        small(columns=dict(reversed(two.items()))),
        small(suppression_limit=0.1),
        small(publish={"database": "a.duckdb"}),
        small(publish={"database": "b.duckdb"}),
    ]
    assert len({policy.digest() for policy in policies}) == len(policies)


def test_digest_holds_no_folder_of_this_machine() -> None:
    def at(folder: str) -> str:
        hierarchy = {"file": f"{folder}tree.csv"}
        sections = {"ledger": f"{folder}l.duckdb", "publish": {"database": f"{folder}r.duckdb"}}
        source = {"file": f"{folder}a.csv"}
        return small(source=source, **sections, **quasi(hierarchy=hierarchy)).digest()

    assert at("/home/one/") == at("/srv/two/") == at("C:\\three\\") == at("")
    assert at("sub/") != at("")


def test_dates_mean_the_same_in_yaml_and_json() -> None:
    text = (
        "version: 1\nsource: {table: t}\nprivacy: {k_anonymity: 2}\ncolumns:\n  age: {role: quasi"
    )
    bare = text + ", hierarchy: {builder: intervals, cuts: [2020-01-01, 2021-01-01 12:30:00]}}\n"
    quoted = bare.replace("2020-01-01", '"2020-01-01"')
    quoted = quoted.replace("2021-01-01 12:30:00", '"2021-01-01 12:30:00"')
    assert Policy.loads(bare) == Policy.loads(quoted)


def test_renames() -> None:
    columns = {"class_id": {"role": "quasi"}, "w": {"role": "keep"}}
    policy = small(columns=columns, publish={"rename": {"class_id": "group", "w": "weight"}})
    assert policy.generated_name("class_id") == "group"
    assert policy.column_name("class_id") == "class_id", "the generated column is meant"
    assert policy.column_name("w") == "weight"
    assert policy.generated_name("person_id") == "person_id"


def test_a_dropped_person_column_may_be_called_person_id() -> None:
    columns = {"person_id": {"role": "drop"}, "age": {"role": "quasi"}}
    assert small(person="person_id", columns=columns).person == "person_id"


def test_names_differing_in_case_are_two_columns_in_postgres_only() -> None:
    columns = {"age": {"role": "quasi"}, "AGE": {"role": "drop"}}
    assert len(small(engine="postgres", columns=columns).columns) == 2


class TestFrozenMap:
    def test_is_an_ordered_mapping(self) -> None:
        given = FrozenMap({"b": 1, "a": 2})
        assert list(given) == ["b", "a"]
        assert given == {"a": 2, "b": 1}
        assert "FrozenMap" in repr(given)
        assert hash(given) == hash(FrozenMap({"a": 2, "b": 1}))

    def test_refuses_changes(self) -> None:
        given = FrozenMap({"a": 1})
        with pytest.raises(AttributeError):
            given._items = {}
        assert copy.copy(given) is given
        assert copy.deepcopy(given) is given
        assert pickle.loads(pickle.dumps(given)) == given


@pytest.mark.parametrize(
    ("algorithm", "role", "mode", "refused"),
    [
        ("mondrian", "quasi", "independent", True),
        ("mondrian", "quasi", "chain", False),
        ("full_domain", "quasi", "independent", False),
        ("full_domain", "sensitive", "independent", True),
    ],
)
def test_levels_that_need_not_nest_are_for_whole_levels(
    algorithm: str, role: str, mode: str, refused: bool
) -> None:
    column = {"role": role, "hierarchy": {"builder": "divisor", "mode": mode}}
    other = {"role": "quasi", "hierarchy": {"builder": "prefix"}}
    given = {
        "version": 1,
        "source": {"table": "t"},
        "columns": {"age": column, "zip": other},
        "privacy": {"k_anonymity": 2},
        "algorithm": {"name": algorithm},
    }
    try:
        Policy.model_validate(given)
        said = ""
    except PolicyError as error:
        said = str(error)
    assert ("columns.age.hierarchy.mode: has levels that need not nest" in said) == refused


@pytest.mark.parametrize("schema", ["information_schema", "PG_Catalog", "temp", "pg_toast"])
def test_schemas_of_the_engine_are_refused(schema: str) -> None:
    given = {
        "version": 1,
        "source": {"table": "visits"},
        "columns": {"age": "quasi"},
        "privacy": {"k_anonymity": 2},
        "publish": {"schema": schema, "database": "release.duckdb"},
    }
    with pytest.raises(PolicyError, match=f"publish.schema: {schema} is the engine's own"):
        Policy.model_validate(given)
