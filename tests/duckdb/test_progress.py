"""What a run shows of itself while it works."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

from anonymizer.cli import main
from anonymizer.commands.progress import _bar, _counted
from anonymizer.compile import work
from anonymizer.execute import Event
from anonymizer.plan import Step


def test_explain_shows_purpose_sql_rows_and_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "s.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(
            "create table t as select 'SECRET' || range as who, range % 9 as a from range(90)"
        )
    policy = {
        "version": 1,
        "source": {"table": "t"},
        "columns": {"who": {"role": "identifier"}, "a": {"role": "quasi"}},
        "privacy": {"k_anonymity": 5},
        "publish": {"database": "r.duckdb"},
    }
    (tmp_path / "p.yml").write_text(json.dumps(policy))
    with pytest.raises(SystemExit) as ended:
        main(["run", str(tmp_path / "p.yml"), "--database", str(source), "--explain"])
    assert ended.value.code == 0
    said = capsys.readouterr().err
    blocks = said.split("-- step ")[1:]
    assert len(blocks) >= 8
    for block in blocks:
        assert re.search(r"-- rows (-|[\d,]+), \d+\.\d ms", block)
        assert re.search(r"^(create|insert|select|with)\b", block, re.MULTILINE)
    assert "SECRET" not in said


def test_a_line_of_progress_counts() -> None:
    step = Step("open classes", "mondrian/open_classes.sql.j2", {"open": work("o")})
    found = _counted(Event("cut", step, 3, 9, 2, 0.1, 1234))
    assert found == ", round 2, 1,234 still open"
    assert _counted(Event("cut", step, 3, 9, None, 0.1, 50)) == ", 50 rows"
    assert _counted(Event("cut", step, 3, 9, None, 0.1, None)) == ""
    with _bar() as listener:
        listener(Event("cut", step, 3, 9, 2, 0.1, 1234))
