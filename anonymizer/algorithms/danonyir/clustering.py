"""The stages that cluster persons, all blocks side by side (Wang et al. 2018, algorithm 1).

A round advances the open cluster of every block by one move: it takes the nearest person of the
block, or unites with the nearest closed cluster. A cluster that holds every guarantee is closed,
and the next person in secret-keyed order is the seed of the next one. With one block for the whole
table this is the paper's algorithm, move by move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anonymizer.algorithms.mondrian.partition import MEMBERS
from anonymizer.algorithms.persons.boxes import Boxes
from anonymizer.algorithms.persons.judging import Judging
from anonymizer.algorithms.persons.rules import HOLDINGS, SETS, PersonRules
from anonymizer.algorithms.prepare import UNITS
from anonymizer.compile import Sql, lit, work
from anonymizer.plan import Compute, Loop, Row, Stage, Step
from anonymizer.privacy import hitting_set

STATE = work("clusters")
MOVES = work("moves")
GROUPS = work("groups")
HELD = work("held_clusters")
PROOFS = work("proofs")
FOUND = work("found_proofs")

NARROW = 2**33
"""More than any number of persons: distance, kind and number of a candidate make one integer."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """What decides a clustering, beside the persons themselves."""

    boxes: Boxes
    rules: PersonRules
    codes: Sequence[Sql]
    block_size: int | Literal["all"]
    persons: int
    """Rows of the source: a bound on the persons."""

    @property
    def judging(self) -> Judging | None:
        """How open clusters are judged beside EIR l-diversity, whose proofs are kept instead."""
        rules = self.rules.without_hitting_sets()
        return Judging(rules, "open_clusters") if rules.rules or rules.least > 1 else None

    def context(self) -> Mapping[str, Any]:
        """The parameters that the templates of growth share."""
        return {
            "units": UNITS,
            "members": MEMBERS,
            "state": STATE,
            "moves": MOVES,
            "groups": GROUPS,
            "held": HELD,
            "proofs": PROOFS,
            "found": FOUND,
            "holdings": HOLDINGS,
            "sets": SETS,
            "asked": self.judging.asked if self.judging else None,
            "verdicts": None,
            "searched": None,
            **(self.judging.passed if self.judging else {}),
            "columns": self.boxes.columns,
            "union": self.boxes.union("x", "y"),
            "loss": self.boxes.loss(),
            "loss_of_union": self.boxes.loss_of_union("x", "y"),
            "size": 0 if self.block_size == "all" else self.block_size,
            "codes": list(self.codes),
            "l": self.rules.hitting or 0,
            "narrow": lit(NARROW),
            "wide": lit(2 * NARROW),
        }


def growth_stages(how: Clustering) -> tuple[Stage, ...]:
    """Stages that write STATE and GROUPS: clusters that hold, and what is left."""
    context = how.context()
    numbers: list[tuple[Any, tuple[str, ...]]] = [(GROUPS, ("unit", "grp")), (HELD, ("unit",))]
    if how.rules.hitting:
        numbers.append((FOUND, ("grp", "col", "value")))
    stages: list[Stage] = [Step("single persons", "danonyir/start.sql.j2", context)]
    stages += [empty(f"empty {table.name}", table, names) for table, names in numbers]
    body: list[Step | Compute] = [
        Step("choose moves", "danonyir/moves.sql.j2", context),
        Step("move", "danonyir/unite.sql.j2", context),
        Step("members of clusters", "danonyir/groups.sql.j2", context),
    ]
    if how.rules.hitting:
        columns = {**context, "columns": how.rules.columns}
        stages.append(Step("no proofs yet", "danonyir/no_proofs.sql.j2", context))
        body.append(Step("proofs of too little diversity", "danonyir/proofs.sql.j2", columns))
        body.append(_search(how.rules.hitting, context))
    if how.judging:
        body.append(Step("clusters to judge", "danonyir/asked.sql.j2", context))
        body += how.judging.steps()
    body.append(Step("clusters that hold", "danonyir/held.sql.j2", context))
    stages.append(
        Loop(
            "grow clusters",
            tuple(body),
            until=Step("clusters that moved", "danonyir/moving.sql.j2", context),
            # every move takes a person or a closed cluster away
            at_most=2 * how.persons + 2,
        )
    )
    return tuple(stages)


def empty(name: str, table: Any, names: Sequence[str]) -> Step:
    """A step that makes an empty table of whole numbers."""
    return Step(
        name,
        "danonyir/empty.sql.j2",
        {"target": table, "names": [Sql(n) for n in names], "type": Sql("bigint")},
    )


def _search(l: int, context: Mapping[str, Any]) -> Compute:
    def search(rows: list[Row]) -> list[Row]:
        """Fewer than l values that meet everybody in a cluster, searched exactly."""
        found: list[Row] = []
        for group, column, sets in rows:
            values = hitting_set(sets, l - 1)
            if values is not None:
                found += [(group, column, value) for value in (0, *sorted(values))]
        return found

    return Compute(
        Step("broken proofs", "danonyir/broken.sql.j2", context),
        search,
        FOUND,
        (("grp", "BIGINT"), ("col", "BIGINT"), ("value", "BIGINT")),
    )
