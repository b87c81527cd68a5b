"""The list of checks in docs/verification.md is that of the code, and its example runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anonymizer.compile import Sql, Table
from anonymizer.compile.sql import templates
from anonymizer.contract.checks import Check
from anonymizer.contract.layout import Layout, MaskedColumn, Originals, PublishedColumn
from anonymizer.contract.reading import ReleasedTable, Tables
from anonymizer.guarantees.requirements import GUARANTEES
from anonymizer.review import demo
from anonymizer.verification.across_tables import tables_questions
from anonymizer.verification.counts_questions import AGAINST_SOURCE, ALONE
from anonymizer.verification.form import column_questions, form, of_safe_harbor
from anonymizer.verification.public_grid import grid_questions
from anonymizer.verification.questions import Question
from anonymizer.verification.source_comparison import against_originals, verify_against_source
from tests.docs.blocks import ROOT, follow
from tests.duckdb.test_verify_form import FLAGS, LINK, ORIGINALS, VALUES, VIEW, lgb_layout
from tests.properties.test_shortcuts import GROUPS

PAGE = ROOT / "docs" / "verification.md"
ROW = re.compile(r"^\| `(\w+)`[^|]* \| [^|]+ \| `(\w+)` \|$", re.MULTILINE)
DISTANCES = ("equal", "ordered", "hierarchical")
LAYOUTS = (
    lgb_layout(person=True),
    replace(GROUPS, person_id="person_id"),
    Layout("none", "text", (), class_id=None, person_id="person_id"),
)


def of_guarantees() -> set[tuple[str, str]]:
    """The checks that descriptors ask for, and their templates."""
    return {
        (ask.name.format(name=guarantee.name), ask.template.format(distance=distance))
        for guarantee in GUARANTEES
        for ask in guarantee.asks
        for distance in DISTANCES
    }


def of_form_and_source() -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()

    def note(questions: Sequence[Question], _: Any) -> tuple[Check, ...]:
        found.update((question.name, question.template) for question in questions)
        return ()

    for layout in LAYOUTS:
        values = {**VALUES, **{column.column: column.column for column in layout.columns}}
        originals = Originals(ORIGINALS, values, FLAGS, person="person")
        note(tuple(form(VIEW, layout)), None)
        first = next((c.column for c in layout.columns if c.role == "quasi"), None)
        following = tuple(
            replace(column, like=first if column.role == "quasi" else None)
            for column in layout.columns
        )
        note(tuple(form(VIEW, replace(layout, columns=following))), None)
        steps: dict[str, Any] = {"categorical": "*", "date": "month"}
        on_grid = tuple(
            replace(column, grid=steps.get(column.kind, 5)) for column in layout.columns
        )
        note(tuple(grid_questions(VIEW, replace(layout, columns=on_grid))), None)
        verify_against_source(
            lambda _: [], originals, LINK, VIEW, layout, compared=Table("compared"), ask=note
        )
    return found


MASKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("VARCHAR", {"mask": "token", "format": "hex"}),
    ("VARCHAR", {"mask": "token", "format": "like"}),
    ("DATE", {"mask": "shift", "within": 30}),
    ("INTEGER", {"mask": "top_code", "at": 89}),
    ("INTEGER", {"mask": "bottom_code", "at_least": 5}),
    ("INTEGER", {"mask": "round", "to": 5, "method": "nearest"}),
    ("INTEGER", {"mask": "noise", "amount": 3, "between": [0, 9]}),
    ("VARCHAR", {"mask": "redact"}),
    ("VARCHAR", {"mask": "zip3", "population": "census 2000"}),
    ("VARCHAR", {"mask": "null"}),
)
SAYING = ("dates", "ages", "geography", "none", "names")


def of_masks() -> set[tuple[str, str]]:
    """The checks of masked columns, and those of Safe Harbor."""
    columns = tuple(
        PublishedColumn(f"c{i}", "keep", "categorical", kind, name=f"c{i}", masks=(mask,))
        for i, (kind, mask) in enumerate(MASKS)
    )
    masked = tuple(
        MaskedColumn(
            f"c{i}", kind, Sql(f"k{i}"), Sql(f"o{i}"), (mask,), Sql("p"), ((None, Sql("i1")),)
        )
        for i, (kind, mask) in enumerate(MASKS)
    )
    said = tuple(
        PublishedColumn(f"s{i}", "keep", "date", "DATE", name=f"s{i}", safe_harbor=kind)
        for i, kind in enumerate(SAYING)
    )
    layout = Layout("none", "text", columns, class_id=None)
    harbor = Layout("none", "text", said, class_id=None, safe_harbor=2020)
    asked = [
        *column_questions(VIEW, layout),
        *against_originals(Originals(ORIGINALS, {}, masked=masked)),
        *of_safe_harbor(VIEW, harbor),
    ]
    return {(question.name, question.template) for question in asked}


def of_tables() -> set[tuple[str, str]]:
    """The checks on several tables together, and on their links."""
    persons = replace(lgb_layout(person=False), key="key")
    column = PublishedColumn("day", "quasi", "date", "DATE", name="day")
    rows = Layout("mondrian", "text", (column,), class_id=None, key="row", links={"key": "persons"})
    tables = Tables(
        "persons",
        k=5,
        events=1,
        rows=True,
        sensitive=False,
        tables=(ReleasedTable("persons", "persons", persons), ReleasedTable("rows", "rows", rows)),
    )
    asked = tables_questions(tables, lambda one: Table(one.name))
    source = {
        ("source_links", "source_links"),
        ("source_key_order", "key_order"),
        ("source_together", "source_together"),
    }
    return {(question.name, question.template) for question in asked} | source


def of_counts() -> set[str]:
    """The templates of the checks on tables of counts, which docs/aggregates.md lists."""
    page = (PAGE.parent / "aggregates.md").read_text(encoding="utf-8")
    of_sums = ("groups_share", "source_dominance", "sum_interval", "insider_interval")
    names = {*AGAINST_SOURCE, *of_sums, *(name for some in ALONE.values() for name in some)}
    assert not [name for name in names if f"`{name}`" not in page]
    # (both intervals are computed from one query)
    asked = names - {"rounded", "sum_interval", "insider_interval"} | {"sums_in_source"}
    return {f"counts_{name}" for name in asked}


def test_the_page_lists_every_check_with_its_template() -> None:
    listed = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len(listed) == len(set(listed))
    assert set(listed) == (of_guarantees() | of_form_and_source() | of_masks() | of_tables())
    plain = {name for name in templates("verify") if not name.startswith("_")}
    assert (
        plain
        == {template for _, template in listed}
        | {
            "side_by_side",
            "nodes",
            "admitted",
            "owned_cells",
            "owned_values",
            "known_values",
        }
        | of_counts()
    )


@pytest.mark.slow
def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    assert demo.run(demo.write(tmp_path)).verification.passed
    (printed,) = follow(PAGE, tmp_path)
    lines = printed.splitlines()
    assert len(lines) > 5
    assert all(line.endswith(" []") for line in lines)
