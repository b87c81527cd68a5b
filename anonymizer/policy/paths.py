"""Paths in a policy, such as `columns.age.role`; unusual names are in double quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

LONGEST = 80


def path_text(steps: Iterable[object]) -> str:
    """Steps joined by dots."""
    return ".".join(map(name_text, steps))


def name_text(step: object) -> str:
    """One step: unchanged if plain, else quoted, with control characters escaped."""
    if step is None or isinstance(step, bool):
        return {None: "null", True: "true", False: "false"}[step]
    if isinstance(step, int):
        return str(step)
    text = str(step)
    if len(text) > LONGEST:
        text = text[:LONGEST] + "…"
    if re.fullmatch(r"[^\W\d][\w$-]*", text):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def column_path(name: str, *options: object) -> str:
    """The path of a column, or of one of its options."""
    return path_text(("columns", name, *options))
