"""A release of several relations in Spark's catalog takes its place in one step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError, TargetError
from anonymizer.publish.spark import switch
from anonymizer.release.published import Release
from tests.backends.tables import embedded, load_into_spark, on_duckdb
from tests.backends.test_matrix import LEVEL_L, LEVELS, ROWS, TABLE, TYPES, asked

pytestmark = pytest.mark.spark

VIEWS = ("released", "released_ill", "released_ward")


def policy(quasi: str = "age code") -> Policy:
    made = asked("msb", "levels first", engine="spark").to_dict()
    for name in ("age", "code", "value"):
        made["columns"][name] = {"role": "quasi" if name in quasi.split() else "drop"}
    made["privacy"], made["columns"]["ill"]["protect"] = LEVEL_L, LEVELS
    return Policy.model_validate(made)


def rows_of(spark: Any) -> dict[str, list[str]]:
    """The published rows of every view."""
    return {view: sorted(map(str, spark.table(view).collect())) for view in VIEWS}


def objects(spark: Any) -> set[str]:
    """What the release has in the catalog."""
    found = {str(row["tableName"]) for row in spark.sql("show tables").collect()}
    return {name for name in found if "released" in name}


def run(spark: Any, seed: int, of: Policy | None = None) -> Release:
    return anonymizer.run(of or policy(), spark, seed=seed)


def test_the_next_release_takes_all_places_at_once(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_into_spark(spark, tmp_path, TYPES, ROWS, TABLE)
    first = run(spark, 1)
    before, kept = rows_of(spark), objects(spark)
    assert anonymizer.verify(policy(), spark).passed
    shown: list[str] = []
    show = switch.show

    def recorded(session: Any, view: Any, definition: Any) -> None:
        shown.append(view.name)
        show(session, view, definition)

    monkeypatch.setattr(switch, "show", recorded)
    second = run(spark, 2)
    # the view that unites the rows, and no other
    assert [name.startswith("_released_") for name in shown] == [True]
    after = rows_of(spark)
    assert all(after[view] != before[view] for view in VIEWS)
    assert anonymizer.verify(policy(), spark).passed
    assert {n.replace(second.run_id, "") for n in objects(spark)} == {
        n.replace(first.run_id, "") for n in kept
    }
    # other columns: the views are replaced, and nothing is left of the old ones
    run(spark, 3, policy("age value"))
    assert spark.table("released").columns[1:] == ["age", "value"]
    assert anonymizer.verify(policy("age value"), spark).passed
    assert len(objects(spark)) == len(kept)


@pytest.mark.parametrize("quasi", ["age code", "age value"])
def test_a_failure_leaves_the_old_release(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quasi: str
) -> None:
    load_into_spark(spark, tmp_path, TYPES, ROWS, TABLE)
    run(spark, 1)
    before, kept = rows_of(spark), objects(spark)

    def fails(*given: Any) -> None:
        del given
        raise TargetError.at("manifest", "cannot be written")

    with monkeypatch.context() as changed:
        changed.setattr("anonymizer.publish.spark.catalog.show", fails)
        with pytest.raises(AnonymizerError, match="manifest: cannot be written"):
            run(spark, 2, policy(quasi))
    assert rows_of(spark) == before
    assert objects(spark) == kept
    assert anonymizer.verify(policy(), spark).passed


def test_names_of_others_and_folders_are_refused(spark: Any, tmp_path: Path) -> None:
    load_into_spark(spark, tmp_path, TYPES, ROWS, TABLE)
    spark.sql("create table released_ill (a int) using parquet")
    with pytest.raises(TargetError, match="released_ill exists and was not published"):
        run(spark, 1)
    made = policy().to_dict()
    made["publish"]["database"] = str(tmp_path / "folder")
    with pytest.raises(TargetError, match=r"publish.database: is a folder"):
        run(spark, 1, Policy.model_validate(made))


def test_many_rows_stay_on_spark(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of DuckDB, where Spark encodes and places them."""
    monkeypatch.setattr("anonymizer.engines.spark.connection.ROWS_UP_TO", 0)
    load_into_spark(spark, tmp_path, TYPES, ROWS, TABLE)
    run(spark, 7)
    with embedded(TYPES, ROWS, TABLE) as connection:
        on_duckdb(policy().model_copy(update={"engine": "duckdb"}), connection)
        for view in VIEWS:
            here = connection.execute(f"from {view}").fetchall()
            there = [tuple(row) for row in spark.table(view).collect()]
            assert sorted(map(str, there)) == sorted(map(str, here)), view
