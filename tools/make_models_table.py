"""Write the table of privacy models into docs/models.md: `python -m tools.make_models_table`."""

from __future__ import annotations

import re
from pathlib import Path

from anonymizer.guarantees.requirements import GUARANTEES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "models.md"
PLACE = re.compile(r"(<!-- table of models: [^\n]* -->\n).*?(<!-- end of the table -->)", re.DOTALL)
HEAD = "model | in a policy | `assess --require` | holds if, in every class | units, direction"


def table() -> str:
    """What every guarantee says of itself, as Markdown; sizes of classes first."""
    ordered = sorted(GUARANTEES, key=lambda guarantee: guarantee.family != "size")
    rows = [HEAD, "--- | --- | --- | --- | ---", *(row for g in ordered for row in g.docs)]
    return "\n".join(f"| {row} |" for row in rows)


def page(text: str) -> str:
    """The page with the table as it is now."""
    return PLACE.sub(lambda found: f"{found[1]}\n{table()}\n\n{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
