"""Guarantees of several tables: those of a single one, and what an observer may know of rows."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from anonymizer.policy.frozen import FrozenMap, Options, Refused
from anonymizer.policy.privacy import DeltaPresence, KMap, Privacy
from anonymizer.policy.schema.table import MONDRIAN, SINGLE
from anonymizer.policy.values import Positive, PositiveNumber

SETS = Refused(f"{SINGLE}: an observer knows the quasi columns of a person", "leave it out")
POPULATION = Refused(f"{SINGLE}: classes are not compared with a population", "leave it out")


class Knows(Options):
    """What an observer may know about a person besides the quasi-identifiers."""

    events: Annotated[int, Field(ge=0, le=3)] = 0
    """Number of rows of a person whose event values may be known: k candidates remain."""
    rows: bool = False
    """The number of rows that the person has in every table: k candidates remain."""
    sensitive: bool = False
    """The rules of sensitive columns also hold among the candidates that remain (LKC)."""

    @property
    def anything(self) -> bool:
        """Whether an observer knows anything besides the quasi-identifiers."""
        return self.events > 0 or self.rows


class SchemaPrivacy(Privacy):
    """Guarantees for all tables together, counted by persons; k_anonymity is required."""

    knows: Knows = Knows()
    """What else an observer may know; default: nothing, and the report shows what that leaves
    open."""
    level_l: Annotated[FrozenMap[int, Positive] | None, MONDRIAN] = None
    k_map: Annotated[KMap | None, POPULATION] = None
    delta_presence: Annotated[DeltaPresence | None, POPULATION] = None
    quasi_sets: Annotated[None, SETS] = None

    @property
    def guarantees(self) -> tuple[str, ...]:
        """Names of the required guarantees of classes."""
        return tuple(name for name in super().guarantees if name != "knows")


class Weight(Options):
    """Weights of losses relative to each other."""

    events: PositiveNumber = 1.0
    """Weight of the loss of an event cell; that of a quasi-identifying cell is 1."""
