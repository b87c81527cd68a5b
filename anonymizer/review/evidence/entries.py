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


Cell: TypeAlias = str | Value


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a page."""

    kind: ClassVar[str]

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Words(Entry):
    """Sentences, from the standard or from the report."""

    kind: ClassVar[str] = "words"
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rows(Entry):
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


@dataclass(frozen=True, slots=True)
class Compared(Entry):
    """A figure with the threshold of a standard or of the policy's context."""

    kind: ClassVar[str] = "threshold"
    says: str
    threshold: float
    value: Value
    holds: bool


@dataclass(frozen=True, slots=True)
class Stated(Entry):
    """A statement of the policy's context."""

    kind: ClassVar[str] = "stated"
    says: str
    field: str
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Open(Entry):
    """A question that only a person can answer, or a figure that needs further input."""

    kind: ClassVar[str] = "open"
    says: str
    how: str
    """How to fill it in."""
