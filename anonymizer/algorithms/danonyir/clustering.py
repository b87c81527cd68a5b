"""The stages that cluster persons, all blocks in parallel (Wang et al. 2018, algorithm 1).

One recursive statement advances every block move by move: its open cluster adds the nearest person
of the block, or is merged with the nearest closed cluster. A cluster that satisfies every guarantee
is closed, and the next person in secret-keyed order is the seed of the next one. With one block for
the whole table this is the paper's algorithm, move by move. Under EIR l-diversity a block waits
if only an exact search can decide whether its cluster holds; the searches of all waiting blocks
are done in one batch, and the statement continues with their results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anonymizer.algorithms.danonyir.carried import UNKNOWN, Carried
from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.persons.boxes import Boxes
from anonymizer.algorithms.persons.judging import Judging, searching
from anonymizer.algorithms.persons.rules import HOLDINGS, SETS, PersonRules
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.privacy.eir import EirValueShare
from anonymizer.privacy.exact import at_most
from anonymizer.privacy.hitting import hitting_set
from anonymizer.privacy.ir import within
from anonymizer.steps import Compute, Loop, Row, Stage, Step

NEIGHBOURS = work("neighbours")
STATE = work("clusters")
GROWN = work("grown_clusters")
FOUND = work("found_proofs")

CLUSTER = [Sql(name) for name in ("seed", "size", "records", "loss", "members")]
"""Columns of every cluster, in addition to its box and carried columns."""
NARROW = 2**33
"""More than any number of persons, to pack distance, kind and number of a candidate."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """The parameters of a clustering, besides the persons."""

    boxes: Boxes
    rules: PersonRules
    codes: Sequence[Sql]
    block_size: int | Literal["all"]
    persons: int
    """Rows of the source: a bound on the persons."""
    leaves_out: bool
    """Whether the policy allows suppressing persons; if not, everyone who can join a class does."""

    @property
    def carried(self) -> Carried:
        return Carried(self.rules)

    @property
    def last(self) -> Table:
        """The table of clusters when all blocks have stopped."""
        return STATE if self.rules.hitting else GROWN

    def context(self) -> Mapping[str, Any]:
        """The parameters that the templates for growing clusters share."""
        carried = self.carried
        union = self.boxes.union("x", "y") + carried.union
        return {
            "units": UNITS,
            "members": MEMBERS,
            "neighbours": NEIGHBOURS,
            "state": STATE,
            "grown": GROWN,
            "found": FOUND,
            "holdings": HOLDINGS,
            "sets": SETS,
            "columns": self.boxes.columns,
            "carried": carried.names,
            "cluster": [*CLUSTER, *self.boxes.columns, *carried.names],
            "own": carried.own,
            "proofs": carried.proofs,
            "holds": carried.holds,
            "waits": carried.waits,
            "unknown": Sql(UNKNOWN),
            "union": union,
            "loss": self.boxes.loss(),
            "distance": self.boxes.distance("x", "y"),
            "size": 0 if self.block_size == "all" else self.block_size,
            "codes": list(self.codes),
            "l": self.rules.hitting or 0,
            **self._limits(),
            "narrow": lit(NARROW),
            "wide": lit(2 * NARROW),
        }

    def _limits(self) -> Mapping[str, Any]:
        """What a block as a whole must not exceed, if persons may be left out for that.

        `fits`: whether a person's rows are few enough among those of all who have as many or fewer.
        """
        alpha, shares = self.rules.alpha, self.rules.value_shares
        limits: dict[str, Any] = {"fits": None, "value_share": None, "kept": Sql("numbered")}
        if not self.leaves_out:
            return limits
        if alpha is not None:
            part = "partition by n.block order by u.records, u.unit rows unbounded preceding"
            fits = within("u.records", at_most(alpha), f"sum(u.records) over ({part})")
            limits |= {"fits": Sql(fits), "kept": Sql("fitting")}
        if shares:
            beta = at_most(min(rule.beta for rule in shares))
            of_persons = any(isinstance(rule, EirValueShare) for rule in shares)
            limits["value_share"] = {
                "p": beta.numerator,
                "d": beta.denominator,
                "among": Sql("count(distinct unit)" if of_persons else "count(*)"),
            }
        return limits


def growth_stages(how: Clustering) -> tuple[Stage, ...]:
    """Stages that write `how.last`: clusters that hold, and the remaining persons of each block."""
    context = how.context()
    grow = Step("grow clusters", "danonyir/grow.sql.j2", context)
    start: tuple[Stage, ...] = (
        *_persons_of_blocks(how, context),
        Step("blocks before the first move", "danonyir/blocks.sql.j2", context),
    )
    if not how.rules.hitting:
        return (*start, grow)
    body = (
        grow,
        _search(how.rules.hitting, context),
        Step("clusters after the search", "danonyir/searched.sql.j2", context),
    )
    until = Step("blocks that waited", "danonyir/waiting_blocks.sql.j2", context)
    # between two rounds, every active block takes a person
    return (*start, Loop("grow clusters", body, until=until, at_most=how.persons + 1))


def _persons_of_blocks(how: Clustering, context: Mapping[str, Any]) -> tuple[Stage, ...]:
    """Steps that number the persons of every block, after judging which parts can be blocks."""
    place = "danonyir/start.sql.j2"
    if how.block_size == "all" or not how.rules.rules:
        return (Step("persons of blocks", place, {**context, "verdicts": None, "searched": None}),)
    judging = Judging(how.rules.of_some_class(), "pieces")
    judged = {**context, "asked": judging.asked, **judging.passed}
    return (
        Step("pieces of large parts", "danonyir/pieces.sql.j2", judged),
        *judging.steps(),
        Step("persons of blocks", place, judged),
    )


def empty(name: str, table: Any, names: Sequence[str]) -> Step:
    """A step that creates an empty table of whole numbers."""
    return Step(
        name,
        "danonyir/empty.sql.j2",
        {"target": table, "names": [Sql(n) for n in names], "type": Sql("bigint")},
    )


def _search(l: int, context: Mapping[str, Any]) -> Compute:
    def search(rows: list[Row]) -> list[Row]:
        """An exact search for fewer than l values that hit everybody in a cluster."""
        found: list[Row] = []
        for block, column, sets in rows:
            values = hitting_set(sets, l - 1)
            if values is not None:
                found += [(block, column, value) for value in sorted(values)]
        return found

    step = Step("broken proofs", "danonyir/broken.sql.j2", context)
    tables = (GROWN, NEIGHBOURS, SETS)
    return Compute(
        step,
        search,
        FOUND,
        (("block", "BIGINT"), ("col", "BIGINT"), ("value", "BIGINT")),
        in_sql=searching(step, tables, "danonyir/search_clusters.sql.j2", FOUND, l),
    )
