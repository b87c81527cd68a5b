"""t-closeness with equal distance: how far a class's distribution is from the table's.

    D = ½ Σ_s |p_s - q_s|  over all values of the reference and NULL,  D <= t

where p is the distribution of the class, q that of the reference. Units: between 0 and 1. Source:
Li, Li, Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity" (2007), §4.1.

NULL is a separate category. Values that the class lacks contribute q_s each, in total Q - Σ q_s
over those it has, so they need no rows. Exact: both sides times 2·N·Q are whole numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.privacy.exact import at_most, big, share
from anonymizer.privacy.rule import Layers, Rule, size_layer


@dataclass(frozen=True, slots=True)
class TCloseness(Rule):
    """Common base of the three distances. `t` is the largest distance allowed."""

    name: ClassVar[str] = "t_closeness"
    relative: ClassVar[bool] = True
    distance: ClassVar[str]

    t: float

    def holds(self) -> Sql:
        t = at_most(self.t)
        return Sql(
            f"{big(self._moved)} * {lit(t.denominator)} <= {self._scale} * {lit(t.numerator)}"
        )

    def achieved(self) -> Sql:
        return share(self._moved, self._scale)

    @property
    @abstractmethod
    def _moved(self) -> str:
        """Aggregate: the distance times `_scale`, a whole number."""

    @property
    @abstractmethod
    def _scale(self) -> str:
        """Aggregate: a whole number, 0 for groups and tables without units."""

    @property
    def _units(self) -> str:
        """Aggregate: units of the class times units of the reference."""
        return f"({big('coalesce(sum(n), 0)')} * coalesce(max(q_size), 0))"


@dataclass(frozen=True, slots=True)
class TEqual(TCloseness):
    """t-closeness with equal distances between all values."""

    distance: ClassVar[str] = "equal"

    def layers(self, part: Sql) -> Layers:
        return (size_layer(part),)

    @property
    def _moved(self) -> str:
        present = "coalesce(sum(abs(n * q_size - q * group_size)), 0)"
        absent = "(coalesce(max(q_size), 0) - coalesce(sum(q), 0))"
        return f"({big(present)} + {big('coalesce(sum(n), 0)')} * {absent})"

    @property
    def _scale(self) -> str:
        return f"({self._units} * 2)"
