"""Entries of a page of evidence: figures, sentences, tables, and open fields."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias


@dataclass(frozen=True, slots=True)
class Value:
    """A figure of the report."""

    figure: str
    """Path of the figure in the report's JSON, with dots."""
    value: Any
    shown: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


Cell: TypeAlias = str | Value


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences, from the standard or from the report."""

    kind: ClassVar[str] = "words"
    sentences: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "sentences": list(self.sentences)}


@dataclass(frozen=True, slots=True)
class Rows:
    """A table; columns of figures are right-aligned."""

    kind: ClassVar[str] = "table"
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def right(self) -> tuple[bool, ...]:
        """For each column, whether it holds figures."""
        return tuple(
            any(isinstance(row[at], Value) for row in self.rows) for at in range(len(self.head))
        )

    def as_dict(self) -> dict[str, Any]:
        rows = [[c.as_dict() if isinstance(c, Value) else c for c in row] for row in self.rows]
        return {"kind": self.kind, "caption": self.caption, "head": list(self.head), "rows": rows}


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure with the threshold of a standard or of the policy's context."""

    kind: ClassVar[str] = "threshold"
    says: str
    value: Value
    threshold: float
    holds: bool

    def as_dict(self) -> dict[str, Any]:
        found = {"kind": self.kind, "says": self.says, "threshold": self.threshold}
        return {**found, "value": self.value.as_dict(), "holds": self.holds}


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement of the policy's context."""

    kind: ClassVar[str] = "stated"
    says: str
    field: str
    text: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        found = {"kind": self.kind, "says": self.says, "field": self.field}
        return {**found, "text": list(self.text)}


@dataclass(frozen=True, slots=True)
class Open:
    """A question that only a person can answer, or a figure that needs further input."""

    kind: ClassVar[str] = "open"
    says: str
    how: str
    """How to fill it in."""

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "says": self.says, "how": self.how}


Entry: TypeAlias = Words | Rows | Compared | Stated | Open
