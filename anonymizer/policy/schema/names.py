"""The names of published columns that follow from a policy of several tables alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from anonymizer.policy.masking import MASKS
from anonymizer.policy.names import PublishedName, cell_names

if TYPE_CHECKING:
    from anonymizer.policy.schema.model import SchemaPolicy


def column_names(
    policy: SchemaPolicy, table: str, kinds: Mapping[str, str] | None = None
) -> Iterator[PublishedName]:
    """Every column that the view of a table may have; `kinds`: of columns with known types."""
    if table == policy.person:
        yield PublishedName("class_id", "the number of the class", None, True)
    for name, column in policy.columns_of(table).items():
        if column.role in ("quasi", "event"):
            kind, event = column.kind or (kinds or {}).get(name), column.role == "event"
            yield from cell_names(name, column, kind, policy.publish.cells, event=event)
        elif column.role in ("key", "sensitive", "keep", *MASKS):
            yield PublishedName(name, f"the {column.role} column", name, False)
