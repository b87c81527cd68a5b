"""No algorithm: every row is published, and only changed as its columns specify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.algorithms.core.compiled import Compiled, published_columns
from anonymizer.algorithms.core.encode import CODED, PERSONS, coded_stages, person_stages
from anonymizer.algorithms.descriptor import COMPOSITION, JOINING, SINGLING_OUT, Algorithm
from anonymizer.compile import Sql, Table, ident
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import NoAlgorithm
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Step

ALGORITHM = Algorithm(
    options=NoAlgorithm,
    compiler="anonymizer.algorithms.none:compile_none",
    towards=frozenset(),
    words="No algorithm: every row is published, in random order; nothing is generalized.",
    attacks=(JOINING, SINGLING_OUT, COMPOSITION),
)


# Compiles the algorithm `none`: rows with draws and numbers of persons, without classes.


@dataclass(frozen=True, slots=True)
class PlainRows:
    """The statement that writes every row, shuffled by its draw."""

    columns: tuple[tuple[str, Sql], ...]
    """Published names and expressions over the row `r` and its person `p`, in order."""
    persons: Table | None = None
    """The table of persons' numbers, if rows belong to persons."""

    def step(
        self, target: Table, extra: Sequence[tuple[str, Sql]] = (), *, ordered: bool = True
    ) -> Step:
        """The step that writes the rows to `target`, with `extra` columns where it is a link."""
        return Step(
            "write the release",
            "none/rows",
            {
                "release": target,
                "coded": CODED,
                "persons": self.persons,
                "columns": [(sql, ident(name)) for name, sql in (*self.columns, *extra)],
                "ordered": ordered,
            },
        )


def compile_none(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Compile draws and numbers of persons; only the rows themselves are published."""
    del profile
    stages = (*coded_stages(policy, roles, numbered=False), *person_stages(policy, roles))
    layout, columns = published_columns(policy, roles, {})
    # (the first column is the class number, which does not exist here)
    rows = PlainRows(columns[1:], PERSONS if policy.person is not None else None)
    return Compiled(stages, rows, replace(layout, class_id=None))
