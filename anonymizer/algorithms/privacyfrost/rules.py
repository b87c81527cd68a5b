"""The rules of sensitive columns over the classes of many tables or parts in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.algorithms.protections import column_rules
from anonymizer.compile import Sql, Table, join, lit, work
from anonymizer.policy import Policy
from anonymizer.privacy.judge import merge_layers
from anonymizer.privacy.rule import size_layer
from anonymizer.source.profile import Sensitive
from anonymizer.source.roles import Roles


@dataclass(frozen=True, slots=True)
class Judged:
    """The rules of one sensitive column for every group, identified by keys."""

    column: Sensitive
    dense: bool
    sized: bool
    """Whether its rules use the size of the group, which is computed before the layers."""
    layers: tuple[tuple[tuple[str, Sql], ...], ...]
    holds: Sql

    @property
    def dear(self) -> bool:
        """Whether it is expensive: it compares distributions instead of only counting values."""
        return self.dense or self.sized or bool(self.layers)

    @property
    def number(self) -> Sql:
        return lit(self.column.index)

    def held(self, stage: int) -> Sql:
        """The candidates that satisfy its rules and those of the columns before it."""
        return Sql(f"held_{stage}_{self.column.index}")

    @property
    def cells(self) -> Table:
        return self.column.cells

    @property
    def reference(self) -> Table:
        return self.column.reference

    @property
    def base_cells(self) -> Table:
        """Work table of its values in the tuples that the search aggregates."""
        return work(f"base_cells_{self.column.index}")


def judged_by(policy: Policy, roles: Roles, keys: Sequence[Sql]) -> tuple[Judged, ...]:
    """The rules of all sensitive columns that have any, over groups identified by `keys`."""
    made = []
    for column in roles.sensitive:
        rules = column_rules(policy, column)
        if rules:
            layers = [dict(layer) for layer in merge_layers(rules, join(keys))]
            # for many small groups, joined totals take a third of the time of a window
            (size,) = size_layer(join(keys)).items()
            sized = any(size in layer.items() for layer in layers)
            for layer in layers:
                layer.pop(size[0], None)
            made.append(
                Judged(
                    column=column,
                    dense=any(rule.dense for rule in rules),
                    sized=sized,
                    layers=tuple(tuple(layer.items()) for layer in layers if layer),
                    holds=Sql(" and ".join(f"({rule.holds()})" for rule in rules)),
                )
            )
    return tuple(made)
