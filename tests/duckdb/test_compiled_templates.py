"""Templates are compiled once and kept; a cache that is damaged or cannot be is as good as none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest
from jinja2.compiler import CodeGenerator

from anonymizer.compile.sql import (
    CompiledTemplates,
)


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    """Loads a template as a process of its own would, and tells how many had to be compiled."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    compiled: list[int] = []

    class Counting(CodeGenerator):
        def visit_Template(self, *arguments: object, **named: object) -> None:
            compiled.append(1)
            super().visit_Template(*arguments, **named)  # type: ignore[arg-type]

    def load(source: str) -> int:
        made = jinja2.Environment(
            loader=jinja2.DictLoader({"one": source}),
            bytecode_cache=CompiledTemplates(str(tmp_path / "cache"), "%s.bin"),
        )
        made.code_generator_class = Counting
        before = len(compiled)
        assert made.get_template("one").render() == source
        return len(compiled) - before

    return load


@pytest.mark.parametrize("keep", [0, 6, 20, -1])
def test_a_damaged_cache_is_none(load: Callable[[str], int], tmp_path: Path, keep: int) -> None:
    load("select 1")
    (cached,) = (tmp_path / "cache").iterdir()
    cached.write_bytes(cached.read_bytes()[:keep])
    assert [load("select 1"), load("select 1")] == [1, 0]


def test_where_no_cache_can_be_written_templates_are_compiled(
    load: Callable[[str], int], tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert [load("select 1"), load("select 1")] == [1, 1]
