"""The functions of the package as a script or notebook calls them, rightly and wrongly."""

from __future__ import annotations

import subprocess
import sys
from inspect import isfunction, signature
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import api
from anonymizer.engines.base import Limits
from anonymizer.errors import (
    AnonymizerError,
    EngineError,
    NothingToCheckError,
    PolicyError,
    SourceError,
)
from anonymizer.policy.reading import Reading
from anonymizer.review.assess import assess
from anonymizer.review.attack import attack
from anonymizer.review.draft.schema_draft import draft_tables
from anonymizer.review.draft.table_draft import draft
from anonymizer.review.grid import sweep
from anonymizer.review.observers import attack_tables
from anonymizer.review.report import write_report
from tests.runs import fill, policy, run, source

TYPES = {"id": "INTEGER", "age": "INTEGER", "sex": "VARCHAR"}
COLUMNS: dict[str, Any] = {"id": "identifier", "age": "quasi", "sex": "quasi"}
PEOPLE = [(i, 20 + i * 7 % 40, "mf"[i % 2]) for i in range(20)]


@pytest.mark.parametrize("name", ["plan", "run", "verify"])
@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("policy.yml", r"Policy\.load\(path\)"),
        (Path("policy.yml"), r"Policy\.load\(path\)"),
        ({"version": 1}, r"Policy\.model_validate\("),
        (5, r"is of type int, and not a Policy"),
    ],
)
def test_what_is_no_policy(name: str, given: Any, hint: str) -> None:
    with pytest.raises(PolicyError, match=rf"^policy: .*{hint}"):
        getattr(anonymizer, name)(given, duckdb.connect())


def test_a_frame_is_a_source_and_holds_no_release(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(PEOPLE, columns=list(TYPES))
    given = policy(tmp_path, COLUMNS, publish={"database": None})
    assert list(anonymizer.plan(given, frame))
    assert anonymizer.run(given, frame).verification.passed
    with pytest.raises(NothingToCheckError, match="manifest: is missing"):
        anonymizer.verify(given, frame)
    with pytest.raises(SourceError, match="database: is of type int, and not a database"):
        anonymizer.run(given, 5)


def test_a_closed_connection(tmp_path: Path) -> None:
    given = policy(tmp_path, COLUMNS, publish={"database": None})
    connection = duckdb.connect()
    connection.close()
    for call in (anonymizer.plan, anonymizer.run, anonymizer.verify):
        with pytest.raises(EngineError, match="database: is a connection that was closed"):
            call(given, connection)


def test_a_release_in_memory_is_verified_on_its_connection(tmp_path: Path) -> None:
    given = policy(tmp_path, COLUMNS, publish={"database": None})
    with duckdb.connect() as connection:
        fill(connection, TYPES, PEOPLE)
        run(given, connection)
        connection.execute("set default_null_order = 'nulls_first'")
        before = connection.execute("from duckdb_settings() select name, value").fetchall()
        assert anonymizer.verify(given, connection).passed
        assert anonymizer.verify(None, connection).passed
        after = connection.execute("from duckdb_settings() select name, value").fetchall()
        assert after == before
        connection.begin()
        with pytest.raises(EngineError, match="connection: is inside a transaction"):
            anonymizer.verify(given, connection)


def test_a_file_that_the_process_has_open(tmp_path: Path) -> None:
    given = policy(tmp_path, COLUMNS)
    release = run(given, source(tmp_path, TYPES, PEOPLE))
    assert release.database is not None
    with duckdb.connect(str(release.database)) as connection:
        with pytest.raises(EngineError, match=r"publish\.database: .*open in this process"):
            anonymizer.verify(given)
        assert anonymizer.verify(given, connection).passed
    with duckdb.connect(str(release.database), read_only=True) as connection:
        assert anonymizer.verify(given, connection).passed


def test_errors_name_parameters_and_no_options(tmp_path: Path) -> None:
    given = policy(tmp_path, COLUMNS, publish={"database": None})
    for call in (anonymizer.plan, anonymizer.run, anonymizer.verify):
        with pytest.raises(AnonymizerError) as refused:
            call(given)
        assert str(refused.value).startswith("database: ")
        assert "--" not in str(refused.value)


def test_the_names_are_listed_before_their_first_use() -> None:
    code = "import anonymizer, sys; print(*dir(anonymizer)); print('duckdb' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        cwd=Path(anonymizer.__file__).parents[1],
    )  # fmt: skip
    listed, imported = done.stdout.splitlines()
    assert set(anonymizer.__all__) <= set(listed.split())
    assert imported == "False"


POSITIONS = {
    "anonymize": ("frame", "quasi", "sensitive"),
    "assess": ("table", "database"),
    "assess_counts": ("table", "database"),
    "attack": ("policy", "source"),
    "certify": ("policy", "database"),
    "compare": ("policy", "database"),
    "init": ("table", "database"),
    "plan": ("policy", "database"),
    "report": ("policy", "target"),
    "run": ("policy", "database"),
    "verify": ("policy", "database"),
    "write_report": ("policy", "target"),
}
"""What may be given without its name, as in `plan(policy, "warehouse.duckdb")`."""
EXAMPLES: dict[str, Any] = {
    "None": None,
    "str": "age",
    "Path": Path("a"),
    "bool": True,
    "int": 3,
    "float": 0.5,
    "Sequence[str]": ("age", "zip"),
    "Limits": Limits(),
    "Reading": Reading(),
}


def test_only_what_cannot_be_misread_has_a_position() -> None:
    functions = {
        name: getattr(anonymizer, name)
        for name in anonymizer.__all__
        if isfunction(getattr(anonymizer, name))
    }
    found = {
        name: tuple(
            one.name
            for one in signature(function).parameters.values()
            if one.kind not in (one.KEYWORD_ONLY, one.VAR_KEYWORD)
        )
        for name, function in functions.items()
    }
    assert found == POSITIONS


@pytest.mark.parametrize(
    "function",
    [
        assess,
        draft,
        draft_tables,
        attack,
        attack_tables,
        sweep,
        write_report,
        anonymizer.plan,
        anonymizer.run,
        anonymizer.verify,
        anonymizer.certify,
    ],
    ids=lambda function: function.__name__,
)
def test_arguments_of_another_type_are_refused(function: Any) -> None:
    """Each option of its own type passes, and another type is named; what is open stays open."""
    free = {"policy", "database", "listener", "seed", "source"}
    for name, parameter in signature(function).parameters.items():
        types = {one.strip() for one in parameter.annotation.split("|")}
        if not types <= api.TYPES.keys():
            assert name in free, name
            continue
        with pytest.raises(PolicyError, match=f"^{name}: is of type object"):
            api.refuse_misread(function, {name: object()})
        for one in types:
            api.refuse_misread(function, {name: EXAMPLES[one]})
