"""The extents of classes in which every row occurs once per value of a signature.

Like `anonymizer.algorithms.refine.boxes`, with two differences. A counterfeit has no extent: it
takes the codes of its class, so its columns are NULL (no bits), which unions ignore. And for
attributes with too many values for words, only one value and several values are distinguished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.algorithms.refine.boxes import SCALE, Column, Domain, boxes, possible
from anonymizer.compile import Sql
from anonymizer.source.profile import Attribute


@dataclass(frozen=True, slots=True)
class Extents:
    """The columns of all attributes, and the loss of a row over all of them."""

    columns: tuple[Column, ...]
    domains: tuple[Domain, ...]
    exact: tuple[Attribute, ...]
    coarse: tuple[Attribute, ...]

    def loss(self, prefix: str = "") -> Sql:
        """The loss of one row of an extent, in `SCALE`, from columns with this prefix."""
        parts = [str(boxes(self.exact).loss(prefix))] if self.exact else []
        parts += [
            f"case when {prefix}l{a.index} = {prefix}h{a.index} then 0 else {_several(a)} end"
            for a in self.coarse
        ]
        return Sql(" + ".join(parts))


def _several(a: Attribute) -> int:
    """Approximate loss of a cell with several values."""
    whole = a.scaled(SCALE)
    return whole if a.height else max(2 * whole // max(a.distinct, 1), 1)


def extents(attributes: Sequence[Attribute]) -> Extents:
    """The extents of rows in these attributes."""
    exact = tuple(a for a in attributes if possible([a]))
    coarse = tuple(a for a in attributes if not possible([a]))
    made = boxes(exact)
    columns = [*map(_of_row, made.columns)]
    for a in coarse:
        columns.append(Column(f"l{a.index}", "least", f"u.{a.c}"))
        columns.append(Column(f"h{a.index}", "greatest", f"u.{a.c}"))
    return Extents(tuple(columns), made.domains, exact, coarse)


def _of_row(column: Column) -> Column:
    """The column for one row; `u` is its tuple, or NULLs for a counterfeit."""
    if column.way == "bits":
        return replace(column, of_unit=f"coalesce({column.of_unit}, 0)")
    return replace(column, way="greatest") if column.way == "kept" else column
