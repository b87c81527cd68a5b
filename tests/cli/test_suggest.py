"""The verb `hierarchy suggest`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call, listing

DATABASE = ("--database", "warehouse.duckdb")
SUGGEST = ("hierarchy", "suggest")


def test_a_table_and_a_policy_get_the_same(warehouse: Path, call: Call) -> None:
    before = listing(warehouse)
    done = call(*SUGGEST, "visits", *DATABASE, "--format", "json")
    assert done.code == 0, done.err
    told = done.json["suggestions"]
    assert [one["column"] for one in told] == ["age", "sex"]
    assert {"level", "nodes", "loss", "examples"} == set(told[0]["levels"][0])
    assert told[0]["hierarchy"]["builder"] == "divisor"
    assert told[1]["refused"] == "no hierarchy: has two values or fewer"
    assert listing(warehouse) == before
    # whether the policy has the hierarchies that its algorithm needs, or is to get them
    for age, sex in (
        ("", ""),
        (", hierarchy: {file: gone.csv}", ", hierarchy: {builder: frequency}"),
    ):
        (warehouse / "p.yml").write_text(
            "version: 1\nsource: {table: visits}\ncolumns: {patient_id: {role: drop},"
            f" age: {{role: quasi{age}}}, sex: {{role: quasi{sex}}}, disease: {{role: drop}}}}\n"
            "privacy: {k_anonymity: 2}\nalgorithm: {name: full_domain}\n"
            "publish: {name: o, database: o.duckdb}\n"
        )
        by_policy = call(*SUGGEST, "p.yml", *DATABASE, "--format", "json")
        assert by_policy.code == 0, by_policy.err
        assert by_policy.json["suggestions"] == told


def test_what_cannot_be_suggested_for(warehouse: Path, call: Call) -> None:
    done = call(*SUGGEST, "visits", *DATABASE, "--column", "agee")
    assert done.code == 2
    assert done.err.startswith("--column: agee is not a column of the table")
    assert "did you mean age?" in done.err
    (warehouse / "mails.csv").write_text("mail\n" + "".join(f"u{i}@x.example\n" for i in range(9)))
    assert call(*SUGGEST, "mails.csv").code == 0
    assert call(*SUGGEST, "nothing", *DATABASE).code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "tinyint",
        "smallint",
        "integer",
        "bigint",
        "utinyint",
        "uinteger",
        "hugeint",
        "double",
        "decimal(6, 2)",
        "decimal(9, 0)",
    ],
)
def test_what_is_suggested_can_be_built(kind: str, warehouse: Path, call: Call) -> None:
    import duckdb

    spans = (2, 3, 4, 5, 6, 9, 60)
    listed = ", ".join(f"({b} + i % {n})::{kind} as c{b}_{n}" for n in spans for b in (0, 1, 20))
    with duckdb.connect(str(warehouse / "warehouse.duckdb")) as connection:
        connection.execute(f"create table t as select {listed} from range(600) r(i)")
    columns = [part for n in spans for b in (0, 1, 20) for part in ("--column", f"c{b}_{n}")]
    done = call(*SUGGEST, "t", *DATABASE, *columns)
    assert done.code == 0, done.err
    assert "cannot be built" not in done.out
