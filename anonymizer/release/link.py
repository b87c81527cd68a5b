"""The link: the published rows, in their order, with the reference of the row each stands for.

It exists in scratch only. The rows of a release are copied from it, so that they are joined and
sorted once, and a row of the release and its row of the link stand in the same place.
"""

from __future__ import annotations

from collections.abc import Callable

from anonymizer.algorithms.compiled import Compiled
from anonymizer.compile import Sql, Table, work
from anonymizer.plan import Step

LINK = work("link")
ROW_REF = "row_ref"


def link_step(compiled: Compiled, *, ordered: bool) -> Step:
    """The step that writes the link; in the order of the release, or in none."""
    return compiled.assembly.step(LINK, [(ROW_REF, Sql("r.row_ref"))], ordered=ordered)


def linked_writes(
    compiled: Compiled, rows: Table, place: Callable[[str], Table]
) -> tuple[Step, ...]:
    """The steps that write the link and, from it, the release; further tables as `place` says."""
    context = {"link": LINK, "release": rows, "row_ref": ROW_REF}
    return (
        link_step(compiled, ordered=True),
        Step("publish the rows", "link/published.sql.j2", context),
        *(separated.step(place(separated.table)) for separated in compiled.separated),
    )
