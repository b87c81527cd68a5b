"""The rules of sensitive columns over the classes of many tables, or of many parts, at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.algorithms.protections import column_rules
from anonymizer.algorithms.roles import Roles
from anonymizer.compile import Sql, Table, join, lit, work
from anonymizer.policy import Policy
from anonymizer.privacy import merge_layers
from anonymizer.profile import Sensitive


@dataclass(frozen=True, slots=True)
class Judged:
    """What one sensitive column asks of every group that some keys tell apart."""

    column: Sensitive
    dense: bool
    layers: tuple[tuple[tuple[str, Sql], ...], ...]
    holds: Sql

    @property
    def number(self) -> Sql:
        return lit(self.column.index)

    @property
    def held(self) -> Sql:
        """What its rules, and those of the columns before it, leave of the candidates."""
        return Sql(f"held_{self.column.index}")

    @property
    def cells(self) -> Table:
        return self.column.cells

    @property
    def reference(self) -> Table:
        return self.column.reference

    @property
    def base_cells(self) -> Table:
        """Its values in the tuples that the search aggregates."""
        return work(f"base_cells_{self.column.index}")


def judged_by(policy: Policy, roles: Roles, keys: Sequence[Sql]) -> tuple[Judged, ...]:
    """The rules of all sensitive columns that have any, over groups told apart by `keys`."""
    made = []
    for column in roles.sensitive:
        rules = column_rules(policy, column)
        if rules:
            layers = merge_layers(rules, join(keys))
            made.append(
                Judged(
                    column=column,
                    dense=any(rule.dense for rule in rules),
                    layers=tuple(tuple(layer.items()) for layer in layers),
                    holds=Sql(" and ".join(f"({rule.holds()})" for rule in rules)),
                )
            )
    return tuple(made)
