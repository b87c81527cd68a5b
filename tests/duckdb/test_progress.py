"""What a run shows of itself while it works."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

from anonymizer.cli import main


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
    # every phase has a name, and numbers of its own that only rise
    places = re.findall(r"-- step (\d+) of (\d+) of (\w+)", said)
    assert len(places) == len(blocks)
    assert list(dict.fromkeys(phase for _, _, phase in places)) == [
        "reading", "checking", "anonymizing", "writing",
    ]  # fmt: skip
    for phase in {phase for _, _, phase in places}:
        numbers = [int(n) for n, _, its in places if its == phase]
        assert numbers == sorted(numbers)
        assert len({of for _, of, its in places if its == phase}) == 1
