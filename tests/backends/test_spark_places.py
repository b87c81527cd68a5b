"""Sources and targets on Spark, the session that a run leaves behind, and what is refused."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError

COLUMNS = {"id": "drop", "age": "quasi", "town": "quasi", "ill": "sensitive"}


def rows(folder: Path) -> Path:
    path = folder / "rows.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "copy (select i as id, cast(20 + i % 9 as integer) as age, 'town ' || i % 3 as town,"
            f" 'ill ' || i % 5 as ill from range(60) t(i)) to '{path}' (format parquet)"
        )
    return path


def policy(source: dict[str, Any], **rest: Any) -> Policy:
    columns = {name: {"role": role} for name, role in COLUMNS.items()}
    whole = {"version": 1, "engine": "spark", "source": source, "key": "id", "columns": columns}
    publish = {"name": "released", **rest.pop("publish", {})}
    return Policy.model_validate(
        {**whole, "privacy": {"k_anonymity": 5}, "publish": publish, **rest}
    )


def refused(given: Policy, database: Any = None) -> str:
    with pytest.raises(AnonymizerError) as caught:
        anonymizer.run(given, database, seed=1)
    text = str(caught.value)
    assert "Traceback" not in text
    assert "java" not in text.lower() or "Java" in text
    return text


@pytest.mark.spark
def test_a_table_of_the_catalog_and_a_release_beside_it(spark: Any, tmp_path: Path) -> None:
    spark.read.parquet(str(rows(tmp_path))).write.mode("overwrite").saveAsTable("people")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Zurich")
    before = {name: spark.conf.get(name) for name in ("spark.sql.session.timeZone",)}
    given = policy({"table": "people"})
    first = anonymizer.run(given, spark, seed=1)
    second = anonymizer.run(given, spark, seed=2)
    assert {name: spark.conf.get(name) for name in before} == before
    assert first.verification.passed
    assert second.view == "default.released"
    assert spark.table("released").count() == len(second.df()) == 60
    kept = json.loads(spark.table("released_manifest").collect()[0][0])
    assert kept["run_id"] == second.run_id
    # the frozen rows of the first run are gone with it
    names = {row["tableName"] for row in spark.sql("show tables").collect()}
    frozen = f"_released_{second.run_id}"
    assert names == {"people", "released", "released_manifest", frozen}
    assert anonymizer.verify(given, spark).passed
    spark.sql("drop view released_manifest")
    spark.sql("create view released_manifest as select 1 as mine")
    assert "released_manifest exists and was not published by this tool" in refused(given, spark)


@pytest.mark.spark
def test_nothing_is_left_of_a_run_that_fails(spark: Any, tmp_path: Path) -> None:
    path = rows(tmp_path)
    target = {"database": str(tmp_path / "out")}
    given = policy({"file": str(path)}, publish=target, privacy={"k_anonymity": 61})
    assert "asks for classes of 61 rows" in refused(given, spark)
    assert list((tmp_path / "out").iterdir()) == []
    assert spark.sql("show tables").collect() == []


@pytest.mark.spark
def test_what_cannot_be_read(spark: Any, tmp_path: Path) -> None:
    target = {"database": str(tmp_path / "out")}
    assert "source.table: is not a table of Spark's catalog" in refused(
        policy({"table": "nowhere"}, publish=target), spark
    )
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 is not all that it takes")
    text = refused(policy({"file": str(broken)}, publish=target), spark)
    assert text.startswith("source.file: ")
    assert "not all that" not in text
    text = refused(policy({"query": "drop table people"}, publish=target), spark)
    assert "source.query: is not one SELECT statement of Spark's SQL" in text
    file = tmp_path / "file"
    file.write_text("")
    given = policy({"file": str(rows(tmp_path))}, publish={"database": str(file)})
    assert "publish.database: is a file" in refused(given, spark)


def test_missing_files_are_told_before_spark_starts(tmp_path: Path) -> None:
    target = {"database": str(tmp_path / "out")}
    text = refused(policy({"file": str(tmp_path / "none.parquet")}, publish=target))
    assert text == "source.file: there is no file or folder none.parquet"


@pytest.mark.spark
def test_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = policy({"file": str(rows(tmp_path))}, publish={"database": str(tmp_path / "out")})
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "engine: Spark needs Java, and none is found" in refused(given)


def test_without_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = policy({"file": str(rows(tmp_path))}, publish={"database": str(tmp_path / "out")})
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pyspark"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "engine: Spark is not installed" in refused(given)


@pytest.mark.spark
def test_a_file_whose_name_reads_like_a_pattern(spark: Any, tmp_path: Path) -> None:
    found = rows(tmp_path).rename(tmp_path / "rows1.parquet")
    path = tmp_path / "rows[1].parquet"
    duckdb.execute(f"copy (select * replace ('here' as town) from '{found}') to '{path}'")
    target = {"database": str(tmp_path / "out")}
    release = anonymizer.run(policy({"file": str(path)}, publish=target), spark, seed=1)
    assert set(release.df()["town"]) == {"here"}
