"""Compiled plans as they were last approved; `--update-golden` writes them anew.

Whole plans are there to be read, one per algorithm. The outlines hold the steps of all other
settings and their parameters. What no whole plan shows of a template is in a file of its own.
`tests/golden/README.md` says how to read them.
"""

from __future__ import annotations

import difflib

import pytest

from anonymizer.compile.environment import folder
from tests.duckdb.golden_files import GOLDEN, Golden, golden
from tests.duckdb.golden_outline import steps

ELSEWHERE = {
    "hierarchy/export_rows.sql.j2": "read when a hierarchy is exported",
    "hierarchy/shape.sql.j2": "read when a hierarchy is measured",
    "hierarchy/show_nodes.sql.j2": "read when a hierarchy is shown",
    "lattice/table.sql.j2": "read by the command lattice",
    "link/classes.sql.j2": "read where a large table is written",
    "link/numbered_cells.sql.j2": "read where a large table is written",
    "link/texts.sql.j2": "read where a large table is written",
    "prepare/alone.sql.j2": "read where kept columns are not acknowledged",
    "prepare/distinct.sql.j2": "read when a source is profiled",
    "prepare/values_of.sql.j2": "read when a source is profiled",
    "privacyfrost/final.sql.j2": "read for the manifest",
    "privacyfrost/tables.sql.j2": "read for the manifest",
    "schema/counts.sql.j2": "read when the tables are counted",
    "schema/together.sql.j2": "read for the manifest",
}
"""Templates in folders of plans that no plan holds; runs test them."""
NOT_SHOWN = {
    ("ledger/row_joins.sql.j2", 2, "else"): "values that only the earlier release shows",
    ("ledger/row_joins.sql.j2", 3, "else"): "values that only the earlier release shows",
    ("lattice/failing.sql.j2", 5, "body"): "a distance by a tree beside a rule on all values",
    ("lattice/paths.sql.j2", 3, "else"): "only columns of one value",
    ("lattice/paths.sql.j2", 6, "body"): "only columns of one value",
    ("link/published.sql.j2", 0, "body"): "only large tables",
    ("link/published.sql.j2", 1, "body"): "only large tables",
    ("link/published.sql.j2", 2, "body"): "only large tables",
    ("release/rows.sql.j2", 2, "else"): "only large tables",
    ("release/rows.sql.j2", 5, "body"): "only large tables",
    ("release/rows.sql.j2", 6, "body"): "only large tables",
    ("prepare/remarks.sql.j2", 3, "body"): "two columns whose names tell persons",
    ("prepare/meant.sql.j2", 6, "body"): "several columns of dates or doubles",
    ("prepare/written_as.sql.j2", 2, "body"): "only numbers of very many digits",
    ("prepare/written_as.sql.j2", 3, "body"): "only numbers of very many digits",
    ("schema/coded_again.sql.j2", 1, "body"): "two codes in a table of events",
    ("schema/failing.sql.j2", 3, "body"): "a distance that needs all values of a column",
    ("schema/owners.sql.j2", 1, "body"): "only quasi-identifiers of very many values",
}
"""Branches that no setting takes, by template and the number of the condition or loop in it."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Golden:
    found = golden(tmp_path_factory.mktemp("golden"))
    if request.config.getoption("--update-golden"):
        for path in kept() - found.files.keys():
            (GOLDEN / path).unlink()
        for path, text in found.files.items():
            (GOLDEN / path).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / path).write_text(text, encoding="utf-8")
    return found


def kept() -> set[str]:
    return {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.glob("*/**/*") if path.is_file()}


@pytest.mark.parametrize("kind", ["plans", "outlines", "templates"])
def test_what_is_compiled_is_what_was_approved(made: Golden, kind: str) -> None:
    paths = sorted(path for path in made.files.keys() & kept() if path.startswith(kind))
    assert paths
    changes: list[str] = []
    for path in paths:
        approved = (GOLDEN / path).read_text(encoding="utf-8")
        changes += difflib.unified_diff(
            approved.splitlines(), made.files[path].splitlines(), path, "now", lineterm="", n=1
        )
    assert not changes, "\n".join(changes)


def test_no_file_is_missing_or_left_over(made: Golden) -> None:
    assert kept() == made.files.keys()


def test_every_template_of_a_folder_that_plans_use_is_shown(made: Golden) -> None:
    root = folder("templates")
    used = {template.split("/")[0] for template in made.templates}
    present = {
        path.relative_to(root).as_posix()
        for name in used
        for path in (root / name).glob("*.sql.j2")
        if not path.name.startswith("_")
    }
    assert present - made.templates == ELSEWHERE.keys()


def test_every_branch_of_those_templates_is_taken_by_some_setting(made: Golden) -> None:
    """Of a condition without an else, what is left out shows in the digests of the outlines."""
    left = {
        (branch.template, branch.number, branch.outcome)
        for branch in made.probe.branches
        if branch not in made.branches and not branch.empty
    }
    assert left == NOT_SHOWN.keys()


@pytest.mark.slow
def test_plans_bind_the_secret_once_and_hold_no_path_and_no_value_of_a_row(
    made: Golden,
) -> None:
    for name, plan in made.plans.items():
        if name.startswith(("hierarchy_", "ledger_")):
            continue
        text = plan.sql()
        assert sum("secret" in step.binds for step in steps(plan.stages)) <= 1, name
        assert text.count("$secret") == 1, name
        assert "/tmp" not in text, name
        if "level" not in name:  # a policy may list values
            assert not [ill for ill in ("flu", "cold", "acne", "gout") if f"'{ill}'" in text], name
