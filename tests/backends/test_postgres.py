"""A policy on Postgres makes the release that it makes on DuckDB: row by row, number by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.algorithms.core import encode
from anonymizer.errors import AnonymizerError, InfeasibleError
from anonymizer.publish.export import export
from anonymizer.release.signing import new_key
from anonymizer.run.verify import lineage
from tests.backends.tables import (
    PEOPLE,
    embedded,
    load,
    on_duckdb,
    on_postgres,
    people,
    policy,
    rows_of,
    same_release,
)
from tests.selection import some

pytestmark = pytest.mark.postgres

ROWS = people()
QUASI: dict[str, Any] = {"age": "quasi", "zip": "quasi", "town": "quasi"}
ALL = dict.fromkeys(("age", "born", "seen", "town", "wage", "weight", "member"), "quasi")
ILL = {"role": "sensitive"}
L2 = {"role": "sensitive", "protect": {"l_diversity": 2}}
SEMI = {"role": "quasi", "sensitive_when": "hidden", "protect": {"l_diversity": 2}}
PERSON = {"person": "person", "merge_person_rows": True}
LEVELS = {
    "age": {"role": "quasi", "hierarchy": {"builder": "cardinality"}},
    "zip": {"role": "quasi", "hierarchy": {"builder": "prefix"}},
}


def with_hierarchy(column: str, **builder: Any) -> dict[str, Any]:
    return {column: {"role": "quasi", "hierarchy": builder}, "member": "quasi", "ill": ILL}


NONE: dict[str, Any] = {"algorithm": {"name": "none"}, "privacy": {}}
OPEN = {"role": "keep", "acknowledge_unique": True}
KEPT = dict.fromkeys(("age", "town", "seen", "member"), OPEN)
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "none": ({**KEPT, "ill": ILL}, NONE),
    "none persons": ({**KEPT, "ill": ILL}, {**NONE, "person": "person"}),
    "median": ({**QUASI, "ill": ILL}, {"algorithm": {"name": "mondrian", "split": "median"}}),
    "relaxed": (
        {**QUASI, "ill": ILL},
        {"algorithm": {"name": "mondrian", "split": "median", "strict": False}},
    ),
    "all types": ({**ALL, "ill": ILL, "zip": "keep"}, {}),
    "typed": ({**ALL, "ill": ILL}, {"publish": {"cells": "typed"}}),
    "l": ({**QUASI, "ill": L2}, {}),
    "t": ({**QUASI, "ill": {"role": "sensitive", "protect": {"t_closeness": 0.4}}}, {}),
    "persons": (
        {"age": "quasi", "ill": ILL},
        {**PERSON, "privacy": {"ir_kl": {"k": 3, "l": 2}}},
    ),
    "lgb": (
        {"age": SEMI, "zip": "quasi", "ill": L2},
        {"algorithm": {"name": "lgb"}, "suppression_limit": 0.3},
    ),
    "lgb typed": (
        {"age": SEMI, "zip": "quasi", "ill": L2},
        {
            "algorithm": {"name": "lgb"},
            "suppression_limit": 0.3,
            "publish": {"cells": "typed"},
        },
    ),
    "lgb ncp": (
        {"age": "quasi", "zip": "quasi", "ill": L2},
        {"algorithm": {"name": "lgb", "generalization": "ncp"}},
    ),
    "lgb tight": (
        {"age": "quasi", "wage": L2},
        {"algorithm": {"name": "lgb", "ranges": "tight"}},
    ),
    "full domain": (
        {**LEVELS, "ill": L2},
        {"algorithm": {"name": "full_domain"}, "suppression_limit": 0.05},
    ),
    "full domain within a budget": (
        {**LEVELS, "ill": L2},
        {"algorithm": {"name": "full_domain", "budget": 60}, "suppression_limit": 0.05},
    ),
    "suffix": (with_hierarchy("zip", builder="suffix"), {"suppression_limit": 0.1}),
    "date": (with_hierarchy("born", builder="date"), {}),
    "frequency": (with_hierarchy("town", builder="frequency"), {}),
    "conventional": (with_hierarchy("weight", builder="conventional"), {}),
}
SLOW: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "entropy": ({**QUASI, "ill": {"role": "sensitive", "protect": {"entropy_l": 2}}}, {}),
    "ordered t": (
        {
            **QUASI,
            "wage": {
                "role": "sensitive",
                "protect": {"t_closeness": {"t": 0.3, "distance": "ordered"}},
            },
        },
        {},
    ),
    "alpha": ({**QUASI, "ill": {"role": "sensitive", "protect": {"alpha": 0.6}}}, {}),
    "beta": ({**QUASI, "ill": {"role": "sensitive", "protect": {"beta_likeness": 2}}}, {}),
    "delta": ({**QUASI, "ill": {"role": "sensitive", "protect": {"delta_disclosure": 3}}}, {}),
    "alpha k": ({**QUASI, "ill": ILL}, {"privacy": {"alpha_k": {"alpha": 0.6, "k": 4}}}),
    "ir alpha beta": (
        {"age": "quasi", "ill": ILL},
        {**PERSON, "privacy": {"ir_alpha_beta": {"alpha": 0.5, "beta": 0.7}}},
    ),
    "eir alpha beta": (
        {"age": "quasi", "ill": ILL},
        {**PERSON, "privacy": {"eir_alpha_beta": {"alpha": 0.5, "beta": 0.7}}},
    ),
    "lgb loss": (
        {"age": "quasi", "zip": "quasi", "ill": L2},
        {"algorithm": {"name": "lgb", "generalization": "loss"}},
    ),
    "full domain dcp": (
        {**LEVELS, "ill": {"role": "sensitive", "protect": {"t_closeness": 0.5}}},
        {"algorithm": {"name": "full_domain", "optimum": "dcp"}, "suppression_limit": 0.05},
    ),
    "suppressed": (
        {"age": {"role": "quasi", "nulls": "suppress"}, "zip": "quasi", "ill": ILL},
        {"suppression_limit": 0.2},
    ),
    "suppressed persons": (
        {"age": "quasi", "ill": {"role": "sensitive", "nulls": "suppress"}},
        {**PERSON, "suppression_limit": 1},
    ),
    **{
        f"{builder} {column}": (with_hierarchy(column, builder=builder), {})
        for builder, column in (
            ("cardinality", "age"),
            ("conventional", "age"),
            ("on_the_fly", "age"),
            ("prefix", "zip"),
            ("cardinality", "born"),
            ("cardinality", "wage"),
            ("conventional", "born"),
        )
    },
}
FROST: dict[str, dict[str, Any]] = {
    "basic": {"algorithm": {"score": "basic"}},
    "eta": {"algorithm": {"score": "eta", "d": 4}},
    "log": {"algorithm": {"score": "log"}},
    "sums": {"algorithm": {"score": "eta", "tie_break": "sum"}},
    "margin": {"algorithm": {"p": 3, "resume": False}},
    "whole": {"algorithm": {"partial_domain": False}},
    "suppressing": {"algorithm": {}, "suppression_limit": 0.05},
    "pre-sampling": {
        "algorithm": {"presampling_k": 2},
        "columns": {name: {**of, "presampling_level": 1} for name, of in LEVELS.items()},
        "suppression_limit": 0.4,
    },
    "budget": {"algorithm": {"budget": 40}, "suppression_limit": 0.05},
    "single columns": {"algorithm": {"budget": 40, "score": "log"}},
    "typed": {"algorithm": {}, "publish": {"cells": "typed"}},
    "k and nothing else": {"algorithm": {}, "columns": {"ill": "drop"}},
    "t": {
        "algorithm": {},
        "columns": {"ill": {"role": "sensitive", "protect": {"t_closeness": 0.5}}},
    },
}
"""Options of privacyfrost, and of the policy beside it."""


@pytest.fixture(scope="module")
def people_here(postgres: str) -> str:
    load(postgres, PEOPLE, ROWS, "people")
    return postgres


def compare(address: str, columns: dict[str, Any], rest: dict[str, Any]) -> None:
    given = policy(columns, **rest)
    with embedded(PEOPLE, ROWS, "people") as connection:
        expected = on_duckdb(given, connection)
        made = on_postgres(given, address)
        assert made.verification.passed
        same_release(made, address, expected)


@some(5)
@pytest.mark.parametrize("case", list(CASES))
def test_the_release_is_that_of_duckdb(people_here: str, case: str) -> None:
    compare(people_here, *CASES[case])


@pytest.mark.slow
@pytest.mark.parametrize("case", list(SLOW))
def test_the_release_is_that_of_duckdb_under_every_rule(people_here: str, case: str) -> None:
    compare(people_here, *SLOW[case])


@some(3, 10)
@pytest.mark.parametrize("case", list(FROST))
def test_privacyfrost_is_that_of_duckdb(people_here: str, case: str) -> None:
    """There every table is judged in statements of its own, and here in one that recurs."""
    given = dict(FROST[case])
    columns = {**LEVELS, "ill": L2, **given.pop("columns", {})}
    options = {"name": "privacyfrost", **given.pop("algorithm")}
    compare(people_here, columns, {"algorithm": options, **given})


def test_a_rule_that_no_table_holds_is_refused_as_on_duckdb(people_here: str) -> None:
    ill = {"role": "sensitive", "protect": {"entropy_l": 6}}
    given = policy({**LEVELS, "ill": ill}, algorithm={"name": "privacyfrost"})
    said = []
    with embedded(PEOPLE, ROWS, "people") as connection:
        for run, place in ((on_duckdb, connection), (on_postgres, people_here)):
            with pytest.raises(InfeasibleError) as raised:
                run(given, place)
            said.append(str(raised.value))
    assert said[0] == said[1]


ADULT = {
    **dict.fromkeys(("age", "sex", "race", "marital_status", "education", "workclass"), "quasi"),
    "occupation": {"role": "sensitive", "protect": {"l_diversity": 3}},
}
TREES = {
    name: {
        "role": "quasi",
        "hierarchy": {"builder": "cardinality" if name == "age" else "frequency"},
    }
    for name, role in ADULT.items()
    if role == "quasi"
}


@some(1)
@pytest.mark.parametrize(
    "algorithm", [{"name": "mondrian"}, {"name": "lgb"}, {"name": "privacyfrost"}]
)
def test_adult(postgres: str, data_folder: Path, algorithm: dict[str, Any]) -> None:
    path = str(data_folder / "adult_train.parquet")
    with duckdb.connect() as connection:
        connection.execute("create table adult as select * from read_parquet(?)", [path])
        relation = connection.table("adult")
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        rows = relation.fetchall()
        types = {name: kind.replace("TINYINT", "SMALLINT") for name, kind in types.items()}
        load(postgres, types, rows, "adult")
        columns = ADULT | TREES if algorithm["name"] == "privacyfrost" else ADULT
        given = policy(columns, types, "adult", algorithm=algorithm, privacy={"k_anonymity": 10})
        same_release(on_postgres(given, postgres), postgres, on_duckdb(given, connection))


def test_the_release_verifies_again_from_itself(people_here: str) -> None:
    given = policy({**QUASI, "ill": L2})
    made = on_postgres(given, people_here)
    again = anonymizer.verify(given, people_here)
    assert again.passed
    names = {check.name for check in again.checks}
    assert {"k_anonymity", "distinct_l"} <= names <= {c.name for c in made.verification.checks}
    by_manifest = anonymizer.verify(None, people_here)
    assert by_manifest.passed


def test_a_certificate_and_the_lineage_of_a_release(people_here: str, tmp_path: Path) -> None:
    given = policy({**QUASI, "ill": L2})
    on_postgres(given, people_here)
    new_key(tmp_path / "key.pem")
    certificate = tmp_path / "certificate.json"
    certificate.write_text(anonymizer.certify(given, people_here, sign=tmp_path / "key.pem"))
    for asked in (given, None):
        found = anonymizer.verify(
            asked, people_here, certificate=certificate, public_key=tmp_path / "key.pem.pub"
        )
        assert found.passed
        assert found.origin == "signature"
    (output,) = lineage(given, people_here)["outputs"]
    assert {"age", "zip", "town", "ill"} < set(output["facets"]["columnLineage"]["fields"])
    on_postgres(given, people_here, seed=2)
    with pytest.raises(AnonymizerError, match="certificate"):
        anonymizer.verify(
            None, people_here, certificate=certificate, public_key=tmp_path / "key.pem.pub"
        )


@pytest.mark.parametrize("cells", ["text", "typed"])
def test_duckdb_judges_the_release_as_well(people_here: str, tmp_path: Path, cells: str) -> None:
    columns = {**QUASI, "wage": "quasi", "seen": "quasi", "ill": L2, "weight": "keep"}
    given = policy(columns, publish={"cells": cells}, engine="postgres")
    made = on_postgres(given, people_here)
    file = tmp_path / "release.duckdb"
    done = export(given, file, people_here)
    assert done.files[0].rows == len(ROWS)
    judged = anonymizer.verify(None, file, engine="duckdb")
    assert judged.passed
    assert [c.achieved for c in judged.checks] == [
        c.achieved for c in made.verification.checks[: len(judged.checks)]
    ]
    with duckdb.connect(str(file), read_only=True) as connection:
        carried = connection.execute("from main.people_anonymous").fetchall()
    assert [list(row) for row in carried] == rows_of(made, people_here)
    export(given, tmp_path / "release.parquet", people_here)
    parquet = duckdb.read_parquet(str(tmp_path / "release.parquet")).fetchall()
    assert len(parquet) == len(ROWS)


def test_an_export_that_fails_leaves_nothing(
    people_here: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    given = policy({**QUASI, "ill": L2}, engine="postgres")
    on_postgres(given, people_here)
    monkeypatch.setattr("anonymizer.publish.export.decide", full)
    with pytest.raises(OSError, match="No space left"):
        export(given, tmp_path / "release.duckdb", people_here)
    assert list(tmp_path.iterdir()) == []


def test_a_query_is_a_source(people_here: str) -> None:
    given = Policy.model_validate(
        {
            "version": 1,
            "source": {"query": "select age, zip, upper(ill) as ill from people where age > 0"},
            "columns": {"age": {"role": "quasi"}, "zip": {"role": "quasi"}, "ill": ILL},
            "privacy": {"k_anonymity": 3},
            "publish": {"name": "asked"},
        }
    )
    made = on_postgres(given, people_here)
    with embedded(PEOPLE, ROWS, "people") as connection:
        same_release(made, people_here, on_duckdb(given, connection))


def test_codes_looked_up_in_parts_make_the_same_release(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode, "JOINED_AT_ONCE", 1)
    columns = {"age": "quasi", "zip": "quasi", "town": "quasi", "ill": "sensitive"}
    load(postgres, PEOPLE, people(), "people")
    made = on_postgres(policy(columns), postgres)
    same_release(made, postgres, on_duckdb(policy(columns), embedded(PEOPLE, people(), "people")))


def test_a_pseudonymised_release_is_judged_again(postgres: str) -> None:
    load(postgres, PEOPLE, ROWS, "people")
    given = policy({**KEPT, "ill": ILL}, **NONE, engine="postgres", publish={"schema": "shown"})
    release = on_postgres(given, postgres)
    assert (release.kind, release.view) == ("pseudonymised", "shown.people_pseudonymised")
    again = anonymizer.verify(given, postgres)
    assert again.passed
    assert again.kinds == {release.view: "pseudonymised"}
    kept = policy({**KEPT, "ill": "drop"}, **NONE, engine="postgres", publish={"schema": "shown"})
    with pytest.raises(AnonymizerError):
        anonymizer.verify(kept, postgres)
