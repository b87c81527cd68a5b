"""The algorithm `none`: rows with their draws and the numbers of their persons, and no classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.algorithms.compiled import Compiled, published
from anonymizer.algorithms.encode import CODED, PERSONS, coded_stages, person_stages
from anonymizer.compile import Sql, Table, ident
from anonymizer.policy import Policy
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Step


@dataclass(frozen=True, slots=True)
class PlainRows:
    """The statement that writes every row, shuffled by its draw."""

    columns: tuple[tuple[str, Sql], ...]
    """Published name and expression over the row `r` and its person `p`, in order."""
    persons: Table | None = None
    """The persons' numbers, where rows are of persons."""

    def step(
        self, target: Table, extra: Sequence[tuple[str, Sql]] = (), *, ordered: bool = True
    ) -> Step:
        """The step that writes the rows to `target`, with `extra` columns where it is a link."""
        return Step(
            "write the release",
            "none/rows.sql.j2",
            {
                "release": target,
                "coded": CODED,
                "persons": self.persons,
                "columns": [(sql, ident(name)) for name, sql in (*self.columns, *extra)],
                "ordered": ordered,
            },
        )


def compile_none(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Draws and numbers of persons; the rows themselves are all that is published."""
    del profile
    stages = (*coded_stages(policy, roles, numbered=False), *person_stages(policy, roles))
    layout, columns = published(policy, roles, {})
    # (the number of the class comes first, and there is none)
    rows = PlainRows(columns[1:], PERSONS if policy.person is not None else None)
    return Compiled(stages, rows, replace(layout, class_id=None))
