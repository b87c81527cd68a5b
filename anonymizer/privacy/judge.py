"""The window columns of several rules that are judged over one relation."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.compile import Sql
from anonymizer.privacy.rule import Layers, Rule


def merge_layers(rules: Sequence[Rule], part: Sql) -> Layers:
    """Merge the layers of several rules over one relation; shared columns occur once."""
    merged: list[dict[str, Sql]] = []
    seen: dict[str, tuple[int, Sql]] = {}
    for rule in rules:
        for depth, columns in enumerate(rule.layers(part)):
            if depth == len(merged):
                merged.append({})
            for name, expression in columns.items():
                if seen.setdefault(name, (depth, expression)) != (depth, expression):
                    raise ValueError(f"two rules define the column {name} differently")
                merged[depth][name] = expression
    return tuple(merged)
