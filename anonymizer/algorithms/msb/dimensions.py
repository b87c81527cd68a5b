"""The dimensions of the composite sensitive attribute: their values, and the l of each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anonymizer.compile import Sql, Table, lit, work
from anonymizer.policy import Policy
from anonymizer.source.profile import Sensitive, published_type
from anonymizer.source.roles import Roles
from anonymizer.steps import Step


@dataclass(frozen=True, slots=True)
class ValueLevel:
    """A security level of one column: the values listed under it, its rank, and its l."""

    rank: int
    """Position among the levels of the table; 0 is the lowest."""
    needed: int
    values: tuple[str, ...]
    """As texts that the engine casts to the type of the column."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One protected column; `v<i>`, `need<i>`, `cap<i>`, `use<i>` are its columns in the state.

    Codes of values start at 1; 0 is NULL, which has no requirement and is not counted.
    """

    source: Sensitive
    levels: tuple[ValueLevel, ...]
    default: ValueLevel | None
    """The level of values that no level lists; None if every value has to be listed."""
    null_as_value: bool

    @property
    def column(self) -> str:
        return self.source.column

    @property
    def s(self) -> Sql:
        return self.source.s

    @property
    def type(self) -> Sql:
        return Sql(published_type(self.source.sql_type))

    def _named(self, prefix: str) -> Sql:
        return Sql(f"{prefix}{self.source.index}")

    @property
    def v(self) -> Sql:
        """Code of the value."""
        return self._named("v")

    @property
    def need(self) -> Sql:
        """The l of the value's level."""
        return self._named("need")

    @property
    def cap(self) -> Sql:
        """Dimension capacity of the value: records left that have it (Definition 13)."""
        return self._named("cap")

    @property
    def use(self) -> Sql:
        """How often the open group holds the value."""
        return self._named("use")

    @property
    def taken(self) -> Sql:
        """Code of the value of the record that the open group takes next."""
        return self._named("taken_v")

    @property
    def filled(self) -> Sql:
        """Number of records of a finished group that have a value in this column."""
        return self._named("filled")

    @property
    def blocked(self) -> Sql:
        """Values that a finished group cannot take once more."""
        return self._named("blocked")

    @property
    def bit(self) -> Sql:
        """A value's bit in `mask`."""
        return self._named("bit")

    @property
    def mask(self) -> Sql:
        """Bits of the blocked values. Values may share a bit, so only a bit of 0 is conclusive."""
        return self._named("mask")

    @property
    def alias(self) -> Sql:
        return self._named("d")

    @property
    def values(self) -> Table:
        """Work table of its values: code, level, l, and number of rows."""
        return work(f"msb_values_{self.source.index}")


def dimensions(policy: Policy, roles: Roles) -> tuple[Dimension, ...]:
    """The protected sensitive columns, in the order of the policy.

    Plain l-diversity is a single level for all values.
    """
    level_l: Mapping[int, int] = policy.privacy.level_l or {}
    ranks = {level: rank for rank, level in enumerate(sorted(level_l))}
    made = []
    for source in roles.sensitive:
        column = policy.columns[source.column]
        protect = column.protect
        if protect is None:
            continue
        levels: tuple[ValueLevel, ...] = ()
        default = None
        if protect.levels is not None:
            levels = tuple(
                ValueLevel(ranks[level], level_l[level], tuple(map(_text, values)))
                for level, values in sorted(protect.levels.items())
                if values
            )
            if protect.default_level is not None:
                level = protect.default_level
                default = ValueLevel(ranks[level], level_l[level], ())
        else:
            assert protect.l_diversity is not None
            default = ValueLevel(0, protect.l_diversity, ())
        made.append(Dimension(source, levels, default, column.null_as_value))
    return tuple(made)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def values_step(dimension: Dimension, records: Table) -> Step:
    """The step that writes the codes and levels of one column's values."""
    listed = [
        (lit(level.rank), lit(level.needed), _listed(dimension, level.values))
        for level in dimension.levels
    ]
    return Step(
        f"levels of {dimension.column}",
        "msb/values.sql.j2",
        {
            "coded": records,
            "values": dimension.values,
            "dimension": dimension,
            "levels": listed,
            "default": dimension.default,
        },
    )


def _listed(dimension: Dimension, values: Sequence[str]) -> Sql:
    """Condition that a value is in a list; texts that are not values of the type never match."""
    cast = ", ".join(f"try_cast({lit(value)} as {dimension.type})" for value in values)
    return Sql(f"coalesce(value in ({cast}), false)")
