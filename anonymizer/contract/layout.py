"""The layout of a release: its columns, and the requirements on them.

Plain data that can be converted to JSON and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from anonymizer.policy.kinds import CLASSLESS

Role = Literal["quasi", "semi", "sensitive", "keep"]


KEYS = ("key", "links")
"""Fields of a layout that only a release of several tables has."""


@dataclass(frozen=True, slots=True)
class PublishedColumn:
    """How one source column appears in the release, by the names of the release."""

    column: str
    """Name in the source."""
    role: Role
    """`semi`: a quasi-identifier some of whose cells are sensitive and in buckets."""
    kind: Literal["numeric", "categorical", "date"]
    sql_type: str
    """Type of the source column as published (an ENUM is VARCHAR)."""
    name: str | None = None
    """The column that holds the cell as text, the list of values, the node, or the value itself."""
    lo: str | None = None
    hi: str | None = None
    """Bounds (`cells: typed`, ordered kinds)."""
    nullable: str | None = None
    """`cells: typed`: whether the cell may be NULL."""
    value: str | None = None
    """`cells: typed`, semi-sensitive: the bucketized value."""
    bucket: str | None = None
    """Column of the bucket number, which is NULL if the cell is generalized."""
    hierarchy: bool = False
    """Whether categories are published as nodes of a hierarchy instead of sets."""
    bottom: int | float | str | None = None
    top: int | float | str | None = None
    """Codes of a bottom- or top-coded column: beyond them its intervals are open and end with the
    type."""
    list_cells: bool = False
    """`cells: typed`, categories without hierarchy: `name` holds a list of values."""
    masks: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    """The masks, with options, that were applied in order before values were published or
    generalized."""
    safe_harbor: str | None = None
    """Which of the eighteen identifiers of Safe Harbor it contains, or `none`."""
    weight: float | None = None
    """The weight of a quasi-identifier's loss, if weights differ."""

    def as_dict(self) -> dict[str, Any]:
        """As in the manifest: masks, Safe Harbor's kind and a weight only if set."""
        found = asdict(self)
        masks = [dict(mask) for mask in found.pop("masks")]
        if self.safe_harbor is None:
            del found["safe_harbor"]
        if self.weight is None:
            del found["weight"]
        return {**found, "masks": masks} if masks else found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PublishedColumn:
        return cls(**{**data, "masks": tuple(data.get("masks", ()))})


@dataclass(frozen=True, slots=True)
class Requirement:
    """One guarantee that a release has to satisfy."""

    name: str
    """k_anonymity, distinct_l, entropy_l, recursive_cl, t_closeness, alpha, ..."""
    column: str | None
    """The source column that it protects; None for the table."""
    parameters: Mapping[str, Any]
    scope: Literal["class", "bucket", "group"] = "class"
    """Judged per class_id, per bucket of the column, or per group of an msb release."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The whole release: one view of rows, or (msb) a view and a table per sensitive column."""

    algorithm: str
    cells: Literal["text", "typed"]
    columns: tuple[PublishedColumn, ...]
    class_id: str | None = "class_id"
    person_id: str | None = None
    group_id: str | None = None
    """msb: the group number that joins the view with the sensitive tables."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """msb: sensitive source column -> name of its table."""
    key: str | None = None
    """Several tables: the column with the drawn number of the row."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Several tables: column with the number of a row of another table -> that table."""
    safe_harbor: int | None = None
    """For a release under Safe Harbor, the year for which ages are computed."""

    @property
    def of_persons(self) -> bool:
        """Whether guarantees count persons: the policy names persons, or has several tables."""
        return self.person_id is not None or self.key is not None

    @property
    def classless(self) -> bool:
        """Whether the algorithm makes neither classes nor groups, so that they may be missing."""
        return self.algorithm == CLASSLESS

    def as_dict(self) -> dict[str, Any]:
        """As in the manifest, without keys and links, which are listed with the tables."""
        found = {name: value for name, value in asdict(self).items() if name not in KEYS}
        if self.safe_harbor is None:
            del found["safe_harbor"]
        return {**found, "columns": tuple(column.as_dict() for column in self.columns)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Layout:
        columns = tuple(PublishedColumn.from_dict(column) for column in data["columns"])
        return cls(**{**data, "columns": columns})
