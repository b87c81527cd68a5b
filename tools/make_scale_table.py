"""Write the table of what runs where into docs/scale.md: `python -m tools.make_scale_table`."""

from __future__ import annotations

import re
from pathlib import Path

from anonymizer.engines.registry import FEATURES, engines

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
PLACE = re.compile(
    r"(<!-- table of capabilities: [^\n]* -->\n).*?(<!-- end of the table -->)", re.DOTALL
)


def table() -> str:
    """Features against engines, as Markdown."""
    lines = [f"| | {' | '.join(engines())} |", "| --- |" + " :-: |" * len(engines())]
    for feature in FEATURES:
        cells = ["yes" if feature.runs_on(engine) else "–" for engine in engines()]
        lines.append(f"| {feature.title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with the table as it is now."""
    return PLACE.sub(lambda found: f"{found[1]}\n{table()}\n\n{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
