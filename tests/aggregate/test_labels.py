"""Labels of hierarchies that are the tool's own, and what the policy names wrongly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import AnonymizerError, PolicyError, SourceError
from tests.aggregate.releases import policy, published

ROWS = [("p",)] * 10 + [("q",)] * 20 + [("r",)] * 8 + [(None,)] * 7


@pytest.mark.parametrize("method", ["rest", "suppress", "round"])
@pytest.mark.parametrize(
    "levels",
    ["p;(null);A;*\nq;X;B;*\nr;X;B;*\n", "p;(null);*\nq;Q;*\nr;Q;*\n", "p;(all);*\nq;Q;*\nr;Q;*\n"],
)
def test_a_label_of_the_tool_on_any_level(tmp_path: Path, method: str, levels: str) -> None:
    (tmp_path / "h.csv").write_text(levels)
    by = {"a": {"hierarchy": "h.csv"}}
    with pytest.raises(SourceError, match="labels of the tool"):
        published(tmp_path, ROWS, "a varchar", by, method=method)


def test_a_column_twice(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"aggregate.by: names a column twice"):
        policy(tmp_path, ["a", "a"])


def test_a_missing_file_is_named_at_its_place(tmp_path: Path) -> None:
    by: dict[str, Any] = {"a": {"hierarchy": "nofile.csv"}}
    with pytest.raises(AnonymizerError) as caught:
        published(tmp_path, ROWS, "a varchar", by)
    assert {problem.path for problem in caught.value.problems} == {"aggregate.by.a.hierarchy.file"}


def test_a_second_release_has_no_advice_that_is_refused(tmp_path: Path) -> None:
    published(tmp_path, ROWS, "a varchar", {"a": {}})
    again = published(tmp_path, ROWS, "a varchar", {"a": {}})
    said = " ".join(again.replaced)
    assert "attack" not in said
    assert "publish it rarely" in said


def test_nan_is_in_no_band(tmp_path: Path) -> None:
    rows = [(float(i % 4),) for i in range(40)] + [(float("nan"),)] * 9
    by: dict[str, Any] = {"x": {"bands": [0, 2]}}
    with pytest.raises(SourceError, match="9 rows are below the first bound or NaN"):
        published(tmp_path, rows, "x double", by)
