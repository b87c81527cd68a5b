"""`verify` without shortcuts: in Python and as a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.compile.render import Statement
from anonymizer.verification import fast as shortcuts
from anonymizer.verification import questions
from tests.cli.conftest import call  # noqa: F401
from tests.runs import policy, run, source

TYPES = {"age": "INTEGER", "zip": "VARCHAR", "hide": "BOOLEAN", "ill": "VARCHAR"}
ROWS = [(20 + i % 7, f"1{i % 4}", i % 3 == 0, ["flu", "gout", "cold"][i % 3]) for i in range(36)]
DIVERSE = {"protect": {"l_diversity": 2}}
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "sensitive_when": "hide", **DIVERSE},
    "zip": "quasi",
    "hide": "drop",
    "ill": {"role": "sensitive", **DIVERSE},
}


@pytest.mark.slow
def test_plain_takes_no_shortcut_and_finds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = policy(tmp_path, COLUMNS, algorithm={"name": "lgb"}, suppression_limit=1.0)
    release = run(given, source(tmp_path, TYPES, ROWS))
    rendered: list[str] = []

    def noted(module: Any) -> None:
        made = module.render

        def render(template: str, *given: Any) -> Statement:
            rendered.append(template)
            found: Statement = made(template, *given)
            return found

        monkeypatch.setattr(module, "render", render)

    for module in (questions, shortcuts):
        noted(module)

    def fast() -> set[str]:
        found = {template for template in rendered if template.startswith("verify/fast/")}
        rendered.clear()
        return found

    usual = anonymizer.verify(given)
    assert fast() == {"verify/fast/cell_or_bucket.sql.j2"}
    plain = anonymizer.verify(given, plain=True)
    assert fast() == set()
    assert plain == usual
    assert plain.passed
    told = [(check.name, check.column, check.achieved) for check in release.verification.checks]
    assert [(check.name, check.column, check.achieved) for check in plain.checks] == [
        one for one in told if not one[0].startswith("source_")
    ]


@pytest.mark.slow
def test_the_command_has_the_option(tmp_path: Path, call: Any) -> None:  # noqa: F811
    given = policy(tmp_path, COLUMNS, algorithm={"name": "lgb"}, suppression_limit=1.0)
    run(given, source(tmp_path, TYPES, ROWS))
    file = str(tmp_path / "release.duckdb")
    assert call("verify", "--database", file, "--plain").code == 0
    with duckdb.connect(file) as connection:
        ((schema, rows),) = connection.execute(
            "select schema_name, table_name from duckdb_columns() join duckdb_tables()"
            " using (schema_name, table_name) where column_name = 'ill_bucket'"
        ).fetchall()
        connection.execute(f'update "{schema}"."{rows}" set ill_bucket = null')
    assert call("verify", "--database", file, "--plain").code == 1
