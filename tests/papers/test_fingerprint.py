"""The hash of a page changes with the code, and not with comments or layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.reproduce.fingerprint import fingerprint, of_python, of_template

MODULE = '''"""What it is."""

LIMIT = 3  # of rows


class Options:
    size: int = 128
    """How many."""


def twice(x):
    """Double."""
    return 2 * x
'''
TEMPLATE = """{#- Rows of a class.
    reads  t -#}
select a, -- the key
    count(*) as n

from t {# here #} where a = 'x--y'
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "module.py").write_text(MODULE)
    (tmp_path / "code" / "rows.sql").write_text(TEMPLATE)
    (tmp_path / "code" / "tree.csv").write_text("a;b\n")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("module.py", "# of rows", "# of classes"),
        ("module.py", "Double.", "Two times."),
        ("module.py", "How many.", "Rows of a block."),
        ("module.py", "LIMIT = 3", "\n\nLIMIT = (\n    3\n)"),
        ("rows.sql", "Rows of a class.", "All rows."),
        ("rows.sql", "-- the key", "-- what is counted"),
        ("rows.sql", "\n\nfrom", "\n  from"),
    ],
)
def test_words_and_layout_do_not_count(tree: Path, file: str, before: str, after: str) -> None:
    old = fingerprint(["code"], tree)
    replaced(tree / "code" / file, before, after)
    assert fingerprint(["code"], tree) == old


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("module.py", "LIMIT = 3", "LIMIT = 4"),
        ("module.py", "128", "256"),
        ("module.py", "return 2 * x", "return x * 2"),
        ("module.py", "return 2 * x", "return"),
        ("rows.sql", "count(*)", "sum(n)"),
        ("rows.sql", "x--y", "x--z"),
        ("tree.csv", "b", "c"),
    ],
)
def test_code_counts(tree: Path, file: str, before: str, after: str) -> None:
    old = fingerprint(["code"], tree)
    replaced(tree / "code" / file, before, after)
    assert fingerprint(["code"], tree) != old


def replaced(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def test_a_new_file_and_a_new_name_count(tree: Path) -> None:
    old = fingerprint(["code"], tree)
    (tree / "code" / "module.py").rename(tree / "code" / "other.py")
    renamed = fingerprint(["code"], tree)
    (tree / "code" / "more.py").write_text("x = 1\n")
    assert len({old, renamed, fingerprint(["code"], tree)}) == 3


def test_of_a_class_nothing_else_in_its_file_counts(tree: Path) -> None:
    given = ["code/module.py:Options"]
    old = fingerprint(given, tree)
    replaced(tree / "code" / "module.py", "LIMIT = 3", "LIMIT = 4")
    assert fingerprint(given, tree) == old
    replaced(tree / "code" / "module.py", "128", "256")
    assert fingerprint(given, tree) != old


def test_order_and_repetition_of_inputs_do_not_count(tree: Path) -> None:
    files = ["code/module.py", "code/tree.csv", "code/rows.sql"]
    assert fingerprint(files, tree) == fingerprint([*files[::-1], "code"], tree)


def test_what_is_missing_is_an_error(tree: Path) -> None:
    with pytest.raises(FileNotFoundError, match="code/gone"):
        fingerprint(["code/gone"], tree)


def test_a_constant_that_is_none_differs_from_no_constant() -> None:
    assert of_python("def f():\n    return None") != of_python("def f():\n    return 0")
    assert of_python("x: int | None = None") != of_python("x: int | None")


def test_a_template_keeps_strings_and_drops_comments() -> None:
    assert of_template(TEMPLATE).splitlines() == [
        "select a,",
        "count(*) as n",
        "from t  where a = 'x--y'",
    ]
