"""Distortion of levels (Table 4 of Yaseen et al. 2018), and what is shown of a hierarchy."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from anonymizer.hierarchy.levels import HierarchyDrawing, show
from tests.duckdb.hierarchy_build import build

HOURS = "select i as value, i % 3 + 1 as n from range(1, 101) t(i)"


def shown(
    spec: dict[str, Any], *, published: bool = False, nested: bool = True
) -> HierarchyDrawing:
    built = build(spec, HOURS, "SMALLINT", nested=nested)
    return show(
        built,
        1,
        column="hours",
        sql_type="SMALLINT",
        builder=spec["builder"],
        published=published,
    )


def costs(found: HierarchyDrawing) -> list[list[float]]:
    """Distinct distortions per level, as the paper prints them: cut to two or three digits."""
    return [
        sorted({node.distortion for node in found.nodes if node.level == level.level})
        for level in found.levels
    ]


def test_published_distortions_of_the_conventional_hierarchy() -> None:
    found = shown({"builder": "conventional", "min_width": 12.5}, published=True)
    assert costs(found) == [[0.5], [1.0], [2.0], [4.0]]


def test_published_distortions_of_the_divisor_hierarchy() -> None:
    spec = {"builder": "divisor", "mode": "independent", "min_width": 10}
    found = shown(spec, published=True, nested=False)
    # the published level 1 is 0.1, which the formula of the other levels does not give
    assert [pytest.approx(level) for level in costs(found)] == [
        [0.0125], [0.125], [0.625], [2.5], [5]
    ]  # fmt: skip
    ranged = [level[0] for level in costs(shown(spec, nested=False))]
    assert ranged == pytest.approx([5 * (width - 1) / 99 for width in (10, 20, 25, 50, 100)])


def test_published_distortions_of_the_cardinality_hierarchy() -> None:
    spec = {"builder": "cardinality", "min_width": 10}
    published = costs(shown(spec, published=True))
    cut = [[int(cost * 100) / 100 for cost in level] for level in published]
    assert cut == [[0.45], [0.95], [0.95, 1.96], [1.96, 2.97], [5.0]]
    assert published == costs(shown(spec)), "the default is the same formula"


@pytest.mark.parametrize("nested", [True, False])
def test_drawing(nested: bool) -> None:
    chain = "chain" if nested else "independent"
    spec = {"builder": "divisor", "min_width": 10, "mode": chain}
    found = shown(spec, nested=nested)
    assert found.nests is nested
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(found.tree(most_children=4))
    console.print(found.table())
    text = console.export_text()
    assert "hours (divisor, " in text
    assert "[11, 20]  10 values, " in text
    assert ("… 1 more" if nested else "… 6 more") in text
    assert ("level 3" in text) is not nested
    assert "share of the root's" in text
