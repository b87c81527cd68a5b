"""Templates are compiled once and kept; a cache that is damaged or cannot be is as good as none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest
from jinja2.compiler import CodeGenerator

from anonymizer.compile.render import (
    CompiledTemplates,
    compiled_templates,
    environment,
    template_names,
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


def test_a_template_is_compiled_once_until_it_changes(load: Callable[[str], int]) -> None:
    assert [load("select 1"), load("select 1"), load("select 2"), load("select 2")] == [1, 0, 1, 0]


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


def test_where_python_writes_no_bytecode_neither_do_we(
    load: Callable[[str], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert load("select 1") == 1
    assert not (tmp_path / "cache").exists()


def test_a_cache_belongs_to_what_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = compiled_templates()
    assert Path(ours.directory).name == "__pycache__"
    monkeypatch.setattr(jinja2, "__version__", "another")
    assert compiled_templates().pattern != ours.pattern
    assert isinstance(environment().bytecode_cache, CompiledTemplates)


def test_no_template_is_compiled_again_in_one_process() -> None:
    names = [str(number) for number, _ in enumerate(template_names())]
    loader = jinja2.DictLoader(dict.fromkeys(names, ""))
    tried = environment().overlay(loader=loader, bytecode_cache=None)
    loaded = [tried.get_template(name) for name in names]
    assert all(tried.get_template(name) is one for name, one in zip(names, loaded, strict=True))
