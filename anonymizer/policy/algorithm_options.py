"""Properties of every algorithm that the policy layer needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from anonymizer.policy.frozen import Options


class AlgorithmOptions(Options):
    """What a policy has to know of every algorithm; the rest is in `anonymizer.algorithms`."""

    if TYPE_CHECKING:
        name: str

    values_in: ClassVar[Literal["class", "bucket", "group"]] = "class"
    """Where the values of a protected column are published: in the rows of their class, in buckets
    of the column, or in groups with a separate table."""
    over_levels: ClassVar[bool] = False
    """Whether every quasi-identifier is published on a level of its hierarchy."""
    classless: ClassVar[bool] = False
    """Whether rows form no classes or groups, so that no guarantee can hold."""
    clusters_persons: ClassVar[bool] = False
    """Whether it completes classes by an identity-reserved guarantee, which it therefore needs."""

    @classmethod
    def algorithm(cls) -> str:
        """The algorithm's name."""
        return str(get_args(cls.model_fields["name"].annotation)[0])

    @property
    def promises(self) -> Mapping[str, Any]:
        """Table guarantees that the options ask for, by name."""
        return {}

    @property
    def may_divide(self) -> bool:
        """Whether a large table is solved in parts."""
        return getattr(self, "part_size", "all") != "all"

    @property
    def must_divide(self) -> bool:
        """Whether the table has to be solved in parts."""
        return isinstance(getattr(self, "part_size", None), int)

    @property
    def exact(self) -> bool:
        """Whether quasi-identifiers are published unchanged."""
        return False

    @property
    def unweighted(self) -> str | None:
        """The alternative if weights have no effect; None: they have."""
        return "algorithm: {name: mondrian}"
