"""Write the table of what runs where into docs/scale.md: `python -m tools.make_scale_table`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from anonymizer.engines.registry import FEATURES, engines
from anonymizer.errors import PolicyError
from anonymizer.policy import Policy

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
PLACE = re.compile(
    r"(<!-- table of capabilities: [^\n]* -->\n).*?(<!-- end of the table -->)", re.DOTALL
)
KINDS: dict[str, dict[str, Any]] = {
    "[tables of counts and sums](aggregates.md)": {
        "source": {"table": "visits"},
        "aggregate": {"by": {"ward": {}}, "measures": {"visits": {"count": "rows"}}},
        "protect": {"minimum": 10},
        "publish": {"name": "safe"},
    },
    "[several tables](several-tables.md)": {
        "person": "persons",
        "tables": {
            "persons": {
                "source": {"table": "persons"},
                "key": "id",
                "columns": {"id": {"role": "key"}, "age": {"role": "quasi"}},
            },
            "visits": {
                "source": {"table": "visits"},
                "links": {"person": "persons"},
                "columns": {"person": {"role": "key"}, "ward": {"role": "event"}},
            },
        },
        "privacy": {"k_anonymity": 5, "knows": {"events": 1}},
        "publish": {"schema": "safe"},
    },
}
"""Kinds of releases besides that of one table of rows, each as a small policy."""


def _is_a_policy(kind: dict[str, Any], engine: str) -> bool:
    try:
        Policy.model_validate({"version": 1, "engine": engine, **kind})
    except PolicyError:
        return False
    return True


def table() -> str:
    """Features against engines, as Markdown."""
    lines = [f"| | {' | '.join(engines())} |", "| --- |" + " :-: |" * len(engines())]
    for feature in FEATURES:
        cells = ["yes" if feature.runs_on(engine) else "–" for engine in engines()]
        lines.append(f"| {feature.title} | {' | '.join(cells)} |")
    for title, kind in KINDS.items():
        cells = ["yes" if _is_a_policy(kind, engine) else "–" for engine in engines()]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with the table as it is now."""
    return PLACE.sub(lambda found: f"{found[1]}\n{table()}\n\n{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
