"""What a run shows of itself while it works."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

from anonymizer.cli import main
from anonymizer.cli.output import Clock, _bar, _counted
from anonymizer.compile import work
from anonymizer.engines.execute import Event
from anonymizer.steps import Step


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


def test_a_line_of_progress_counts() -> None:
    step = Step("open classes", "mondrian/open_classes.sql.j2", {"open": work("o")})
    found = _counted(Event("cut", step, 3, 9, 2, 0.1, 1234))
    assert found == ", round 2, 1,234 still open"
    assert _counted(Event("cut", step, 3, 9, None, 0.1, 50)) == ", 50 rows"
    assert _counted(Event("cut", step, 3, 9, None, 0.1, None)) == ""
    with _bar() as listener:
        listener(Event("cut", step, 3, 9, 2, 0.1, 1234))


def test_what_is_left_is_never_nothing_while_something_is() -> None:
    step = Step("open classes", "mondrian/open_classes.sql.j2", {"open": work("o")})
    clock = Clock()

    def left(number: int, of: int, phase: str, now: float, round_: int | None = None) -> str:
        return clock.left(Event("cut", step, number, of, round_, 1.0, None, phase), now)

    assert left(1, 4, "reading", 1.0) == ", reading may take 0:03 more"
    assert left(3, 4, "reading", 1.2) == ", reading may take 0:01 more"
    assert left(4, 4, "reading", 2.0) == ""  # the end of a phase is not that of a run
    assert left(1, 3, "anonymizing", 62.0, 1) == ""  # a loop that has begun is not done
    assert left(2, 3, "anonymizing", 181.0) == ", anonymizing may take 1:00 more"
