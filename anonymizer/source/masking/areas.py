"""The ZIP code areas that may be published: those of three digits with enough inhabitants."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from anonymizer.errors import Problem, SourceError, no_file
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.policy.safe_harbor import CENSUS, FEW, GIVEN, NO_AREA, RESTRICTED, ZIP3

HEAD = ("zip3", "population")


def shown_areas(policy: Policy, column: str) -> dict[str, Any]:
    """The source of the populations, and the restricted areas.

    With a file, areas that it does not list are restricted, too. Raises SourceError.
    """
    file = policy.columns[column].population
    if file is None:
        return {"population": CENSUS, "restricted": list(RESTRICTED)}
    where, path = column_path(column, "population"), policy.resolve(file)
    if not path.is_file():
        raise SourceError.at(where, no_file(file))
    found: dict[str, int] = {}
    problems: list[Problem] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as opened:
            for line, area, people in _lines(csv.reader(opened)):
                if area is None or people is None or area in found:
                    said = f"line {line} of the file has no area with its population, or one again"
                    problems.append(Problem(where, said, "three digits, a whole number"))
                    break
                found[area] = people
    except (OSError, ValueError, csv.Error):
        problems.append(Problem(where, "the file cannot be read as a CSV file in UTF-8"))
    if not problems and not found:
        said = "the file does not list populations"
        problems.append(Problem(where, said, hint=f"its first line is {','.join(HEAD)}"))
    SourceError.refuse(problems)
    enough = {area for area, people in found.items() if people > FEW}
    everywhere = (f"{number:03}" for number in range(1000))
    return {
        "population": GIVEN,
        "restricted": [area for area in everywhere if area not in enough and area != NO_AREA],
    }


def _lines(rows: Any) -> Iterator[tuple[int, str | None, int | None]]:
    head = tuple(name.strip().lower() for name in next(rows, ()))
    if not set(HEAD) <= set(head):
        return
    places = [head.index(name) for name in HEAD]
    for line, row in enumerate(rows, start=2):
        if not row:
            continue
        cells = [row[place].strip() if place < len(row) else "" for place in places]
        # (spreadsheets drop leading zeros)
        area = cells[0].zfill(3) if cells[0] else ""
        people = int(cells[1]) if cells[1].isascii() and cells[1].isdigit() else None
        yield line, area if ZIP3.match(area) and area.isascii() else None, people
