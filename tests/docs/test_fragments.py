"""Fragments of policies on pages that no test follows are valid: every key, role and option."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from anonymizer.policy.yaml_text import parse
from tests.docs.blocks import ROOT, blocks
from tools.make_reference import definitions

PARTS = definitions()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def fragments() -> Iterator[Any]:
    for page in PAGES:
        for at, block in enumerate(blocks(page)):
            if block.language == "yaml" and block.file is None:
                given: Any = parse(block.code.replace("\n...\n", "\n"))
                if isinstance(given, dict) and "packages" not in given:
                    yield pytest.param(given, id=f"{_name(page)}-{at}")


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("given", [*fragments()])
def test_a_fragment_is_part_of_a_policy(given: dict[str, Any]) -> None:
    kind = "SchemaPolicy" if "tables" in given else "Policy"
    if not given.keys() & PARTS[kind]["properties"].keys():
        given = {"columns": given}  # a page may show columns alone
    part = {key: PARTS[kind][key] for key in ("properties", "additionalProperties")}
    Draft202012Validator({**part, "$defs": PARTS}).validate(given)
