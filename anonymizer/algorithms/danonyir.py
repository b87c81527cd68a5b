"""The algorithm `danonyir`: clustering of persons under identity-reserved guarantees."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anonymizer.algorithms.core.cells import cell_steps
from anonymizer.algorithms.core.compiled import Assembly, Compiled, published_columns
from anonymizer.algorithms.core.encode import (
    PERSONS,
    UNITS,
    coded_stages,
    domain_steps,
    person_stages,
)
from anonymizer.algorithms.core.guards import enough_units, feasibility, some_class
from anonymizer.algorithms.core.partition import MEMBERS, Partitioning, partition_stages
from anonymizer.algorithms.core.person_boxes import (
    Boxes,
    extent_steps,
    person_units_step,
    place_steps,
    shapes,
)
from anonymizer.algorithms.core.person_rules import (
    HOLDINGS,
    SETS,
    Judging,
    PersonRules,
    holding_steps,
    person_rules,
    searching,
)
from anonymizer.algorithms.descriptor import (
    COMPOSITION,
    MINIMALITY,
    REFINEMENT,
    SKEWNESS,
    Algorithm,
)
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.guarantees.identity import EirValueShare, IrL, PersonShare, ValueShare
from anonymizer.guarantees.rule import at_most, within
from anonymizer.guarantees.screening import hitting_set, screen
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import Danonyir
from anonymizer.process.text import many
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Compute, Embedded, Loop, Note, Row, Stage, Step

# The algorithm `danonyir`: clustering of persons under identity-reserved guarantees.
#
# Source: Wang, Du, Luo, Li, "Two privacy-preserving approaches for data publishing with identity
# reservation" (2018), algorithms 1 to 7.


ALGORITHM = Algorithm(
    options=Danonyir,
    compiler="anonymizer.algorithms.danonyir:compile_danonyir",
    towards=frozenset({"size", "persons"}),
    merges_persons=True,
    words="Clustering of persons with all of their records under an identity-reserved model"
    " (Wang et al. 2018).",
    attacks=(COMPOSITION, REFINEMENT, MINIMALITY, SKEWNESS),
)


# The columns of a cluster, in addition to its box, from which its guarantees are judged.
#
# Per sensitive column `j`, if some rule reads it: `values_j`, the different values of each person,
# concatenated over the persons; `records_of_j`, the same with a value once per record; `known_j`,
# the number of persons with a value; `pairs_j` and `most_pairs_j`, the number of different (person,
# value) pairs in total and the largest of one person. Also `most_records`, the largest number of
# records of one person.
#
# For EIR l-diversity a growing cluster has `proof_j`: fewer than l values that hit every member, so
# that it does not hold yet. `proof_j` is NULL if no such set exists, so that the cluster holds, and
# `[0]` if the last set has become invalid and a search has to decide.


UNKNOWN = "[0]"


@dataclass(frozen=True, slots=True)
class Column:
    """One carried column: its expressions for a person and for a union."""

    name: str
    of_person: str
    """Aggregate over the person's rows of holdings (col, value, n)."""
    of_union: str
    """Expression over `x` and `y`, the sides of a union."""


@dataclass(frozen=True, slots=True)
class CarriedColumns:
    """The carried columns that some rules need, and the conditions over them."""

    rules: PersonRules

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that persons and all clusters carry, including closed clusters."""
        rules = self.rules.without_hitting_sets().rules
        made: list[Column] = []
        persons = any(isinstance(rule, PersonShare) for rule in rules)
        values = any(isinstance(rule, IrL | ValueShare) for rule in rules)
        records = any(type(rule) is ValueShare for rule in rules)
        if persons:
            made.append(_most("most_records", "coalesce(sum(n) filter (where col = {0}), 0)"))
        for j in self._numbers:
            if persons:
                made.append(_total(f"pairs_{j}", f"count(*) filter (where col = {j})"))
                made.append(_most(f"most_pairs_{j}", f"count(*) filter (where col = {j})"))
            if values:
                known = f"filter (where col = {j} and value > 0)"
                made.append(_list(f"values_{j}", _value_list(j)))
                made.append(_total(f"known_{j}", f"cast(count(*) {known} > 0 as bigint)"))
            if records:
                repeated = f"flatten(list(list_resize([value], n, value) order by value) {known})"
                made.append(_list(f"records_of_{j}", f"coalesce({repeated}, [])"))
        first = self._numbers[0] if self._numbers else ""
        return tuple(Column(c.name, c.of_person.format(first), c.of_union) for c in made)

    @property
    def own(self) -> list[tuple[Sql, Sql]]:
        """Aggregates and names of a person's carried columns and values."""
        columns = {c.name: c.of_person for c in self.columns}
        if self.rules.hitting:
            columns |= {f"values_{j}": _value_list(j) for j in self._numbers}
        return [(Sql(text), Sql(name)) for name, text in columns.items()]

    @property
    def names(self) -> list[Sql]:
        return [Sql(column.name) for column in self.columns]

    @property
    def union(self) -> list[tuple[Sql, Sql]]:
        return [(Sql(column.of_union), Sql(column.name)) for column in self.columns]

    @property
    def proofs(self) -> list[tuple[Sql, Sql, Sql]]:
        """For every column under EIR l-diversity: its number, its proof, the values of a person."""
        if not self.rules.hitting:
            return []
        return [(lit(int(j)), Sql(f"proof_{j}"), Sql(f"values_{j}")) for j in self._numbers]

    @property
    def waits(self) -> Sql | None:
        """Condition that a cluster waits for a search that decides whether it holds."""
        broken = [f"coalesce({proof} = {UNKNOWN}, false)" for _, proof, _ in self.proofs]
        return Sql(f"({' or '.join(broken)})") if broken else None

    @property
    def holds(self) -> Sql:
        """Condition that a grown cluster satisfies every guarantee and has at least two persons."""
        terms = [f"{proof} is null" for _, proof, _ in self.proofs]
        return Sql(f"({' and '.join([*terms, *self._counted()])})")

    @property
    def holds_united(self) -> Sql:
        """The same for a cluster that grew by single persons, who cannot break EIR l-diversity."""
        return Sql(f"({' and '.join(self._counted())})")

    def _counted(self) -> list[str]:
        """Conditions that depend on counts alone, cheap ones first."""
        rules = self.rules.without_hitting_sets().rules
        terms = [f"size >= {max(2, self.rules.least)}"]
        for j in self._numbers:
            terms += [f"({_with_carried_names(screen(rule).holds.text, j)})" for rule in rules]
        if len(terms) == 1:
            return terms
        return [f"case when {terms[0]} then {' and '.join(terms[1:])} else false end"]

    @property
    def _numbers(self) -> tuple[str, ...]:
        return tuple(str(column.index) for column in self.rules.columns)


def _value_list(j: str) -> str:
    return f"coalesce(list(value order by value) filter (where col = {j} and value > 0), [])"


def _most(name: str, of_person: str) -> Column:
    return Column(name, f"cast({of_person} as bigint)", f"greatest(x.{name}, y.{name})")


def _total(name: str, of_person: str) -> Column:
    return Column(name, f"cast({of_person} as bigint)", f"(x.{name} + y.{name})")


def _list(name: str, of_person: str) -> Column:
    return Column(name, f"cast({of_person} as integer[])", f"list_concat(x.{name}, y.{name})")


def _with_carried_names(condition: str, j: str) -> str:
    """Rewrite the condition of a screen to the carried columns of one sensitive column."""
    frequency = "coalesce(list_max(map_values(list_histogram({}))), 0)"
    meaning = {
        "persons": "size",
        "known": f"known_{j}",
        "pairs": f"pairs_{j}",
        "pairs_most": f"most_pairs_{j}",
        "records": "records",
        "records_most": "most_records",
        "different": f"len(list_distinct(values_{j}))",
        "known_pairs": f"len(values_{j})",
        "known_records": f"len(records_of_{j})",
        "widest": frequency.format(f"values_{j}"),
        "widest_records": frequency.format(f"records_of_{j}"),
    }
    return re.sub(r"\b[a-z_]+\b", lambda found: meaning.get(found[0], found[0]), condition)


# The stages that cluster persons, all blocks in parallel (Wang et al. 2018, algorithm 1).
#
# One recursive statement advances every block move by move: its open cluster adds the nearest
# person of the block, or is merged with the nearest closed cluster. A cluster that satisfies every
# guarantee is closed, and the next person in secret-keyed order is the seed of the next one. With
# one block for the whole table this is the paper's algorithm, move by move. Under EIR l-diversity a
# block waits if only an exact search can decide whether its cluster holds; the searches of all
# waiting blocks are done in one batch, and the statement continues with their results.


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
    """True if the policy allows suppressing persons; if not, everyone who can join a class does."""

    @property
    def carried(self) -> CarriedColumns:
        return CarriedColumns(self.rules)

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
        """The limits of a block as a whole, if persons may be left out for that.

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
    grow = Step("grow clusters", "danonyir/grow", context)
    start: tuple[Stage, ...] = (
        *_persons_of_blocks(how, context),
        Step("blocks before the first move", "danonyir/blocks", context),
    )
    if not how.rules.hitting:
        return (*start, grow)
    body = (
        grow,
        _search(how.rules.hitting, context),
        Step("clusters after the search", "danonyir/searched", context),
    )
    until = Step("blocks that waited", "danonyir/waiting_blocks", context)
    # between two rounds, every active block takes a person
    return (*start, Loop("grow clusters", body, until=until, at_most=how.persons + 1))


def _persons_of_blocks(how: Clustering, context: Mapping[str, Any]) -> tuple[Stage, ...]:
    """Steps that number the persons of every block, after judging which parts can be blocks."""
    place = "danonyir/start"
    if how.block_size == "all" or not how.rules.rules:
        return (Step("persons of blocks", place, {**context, "verdicts": None, "searched": None}),)
    judging = Judging(how.rules.of_some_class(), "pieces")
    judged = {**context, "asked": judging.groups, **judging.verdict_parameters}
    return (
        Step("pieces of large parts", "danonyir/pieces", judged),
        *judging.steps(),
        Step("persons of blocks", place, judged),
    )


def empty(name: str, table: Any, names: Sequence[str]) -> Step:
    """A step that creates an empty table of whole numbers."""
    return Step(
        name,
        "danonyir/empty",
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

    step = Step("broken proofs", "danonyir/broken", context)
    tables = (GROWN, NEIGHBOURS, SETS)
    return Compute(
        step,
        search,
        FOUND,
        (("block", "BIGINT"), ("col", "BIGINT"), ("value", "BIGINT")),
        in_sql=searching(step, tables, "danonyir/search_clusters", FOUND, l),
    )


# Stages that place residual persons in clusters of other blocks (Wang et al. 2018, alg. 7).
#
# Every round is a few statements, whatever the number of persons. Each person asks for the nearest
# cluster that satisfies the guarantees together with them, and a cluster takes as many at once as
# it can. The bound on the number of rounds grows with the logarithm of the table.


CLOSED = work("closed_clusters")
RESIDUAL = work("residual")
REACH = work("reach")
OFFERS = work("offers")
ASKING = work("asking")
CROWDS = work("crowds")
PLACED = work("placed")

IN_REACH = 64
"""Number of clusters that a person whom no cluster of the block can take may try in total."""
NEAREST = 8
"""Number of these tried in one round; persons refused by all of them are suppressed."""
COMPARISONS = 20_000_000
"""Most pairs of person and cluster that are compared to find clusters in reach."""


def place_in_other_blocks(how: Clustering, context: Mapping[str, Any]) -> tuple[Stage, ...]:
    """Stages in which all persons of RESIDUAL try the nearest clusters of other blocks."""
    rounds = 2 * math.ceil(math.log2(max(how.persons, 2))) + 8
    shared = {
        **context,
        "offers": OFFERS,
        "reach": REACH,
        "crowds": CROWDS,
        "placed": PLACED,
        "nearest": NEAREST,
        "in_reach": IN_REACH,
        "comparisons": COMPARISONS,
        "rounds": rounds,
        "box_union_of_all": how.boxes.union_of_all("x", "y"),
        "verdicts": None,
        "searched": None,
    }
    body = (
        Step("offers", "danonyir/offers", shared),
        *(
            (
                Step("places", "danonyir/places", {**shared, "asking": PLACED}),
                Step("next persons", "danonyir/waiting", shared),
            )
            if how.rules.monotone
            else _placement_by_verdicts(how, shared)
        ),
        Step("join", "danonyir/joined", shared),
        Step("clusters grow", "danonyir/grown", shared),
    )
    until = Step("persons who wait", "danonyir/pending", shared)
    return (
        Step("clusters in reach", "danonyir/reach", shared),
        Loop("place persons elsewhere", body, until=until, at_most=rounds),
    )


def _placement_by_verdicts(
    how: Clustering, shared: Mapping[str, Any]
) -> tuple[Step | Compute, ...]:
    """The same if every cluster has to be judged with one person more, then with several."""
    # added persons cannot break EIR l-diversity
    rules = how.rules.without_hitting_sets()
    one, several = Judging(rules, "offered"), Judging(rules, "crowded")
    offered = {**shared, "asking": ASKING, "asked": one.groups, **one.verdict_parameters}
    crowded = {**shared, "asking": ASKING, "asked": several.groups, **several.verdict_parameters}
    return (
        Step("offers to judge", "danonyir/offered", offered),
        *one.steps(),
        Step("requests for clusters", "danonyir/places", offered),
        Step("how many at once", "danonyir/crowds", crowded),
        Step("clusters with all of them", "danonyir/crowded", crowded),
        *several.steps(),
        Step("places", "danonyir/placed", crowded),
        Step("next persons", "danonyir/waiting", offered),
    )


# Stages that assign residual persons to classes or suppress them (Wang et al. 2018, alg. 7).


SETTLING = work("settling_blocks")
SETTLED = work("settled_blocks")


def residual_stages(how: Clustering) -> tuple[Stage, ...]:
    """Stages that write MEMBERS from the clusters.

    The residual persons of a block join clusters of their block, one by one in secret-keyed order,
    each the nearest that satisfies the guarantees with them, unless suppression costs less (1 per
    cell) and the policy allows it. If no cluster of the block can take a person, the nearest of all
    blocks are tried.
    """
    context = residual_context(how)
    stages: list[Stage] = [
        Step("residual persons", "danonyir/settling", context),
        Note(Step("number of residual persons", "danonyir/residual", context)),
        Step("place residual persons", "danonyir/settle", context),
        Step("members of clusters", "danonyir/settled", context),
    ]
    if how.block_size != "all":
        stages += [
            Step("clusters that hold", "danonyir/closed", context),
            Step("persons whom no cluster takes", "danonyir/unassigned", context),
            *place_in_other_blocks(how, context),
        ]
    return tuple(stages)


def residual_context(how: Clustering) -> Mapping[str, Any]:
    """The parameters that the templates of residual persons share."""
    return {
        **how.context(),
        "last": how.last,
        "monotone": how.rules.monotone,
        "carried_union": how.carried.union,
        "holds_united": how.carried.holds_united,
        "settling": SETTLING,
        "settled": SETTLED,
        "units": UNITS,
        "members": MEMBERS,
        "closed": CLOSED,
        "residual": RESIDUAL,
        "row_cost": lit(sum(one.domain_loss for one in how.boxes.shapes))
        if how.leaves_out
        else None,
    }


# Compiles the algorithm `danonyir`: from policy and profile to stages, assembly and layout.


MOST_EXACT = 60_000
"""Number of rows up to which all persons may be clustered in one block, one move per person."""


def compile_danonyir(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Compile blocks of similar persons, clusters within them, residual persons, and cells.

    Raises InfeasibleError if the table is too large for `block_size: all`, or a block is smaller
    than a class.
    """
    options = policy.algorithm
    assert isinstance(options, Danonyir)
    assert profile.rows is not None
    keys = [Sql("person")]
    codes = [a.c for a in roles.quasi]
    rules = person_rules(policy, roles)
    _check_block_size(options, profile.rows, rules.least)
    boxes = Boxes(shapes(roles.quasi, profile.rows))
    leaves_out = policy.suppression_limit > 0
    how = Clustering(boxes, rules, codes, options.block_size, profile.rows, leaves_out)
    extents, extent_stages = extent_steps(policy, roles)
    places, cuts = _blocks(roles, options, rules, profile.rows)
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=False),
        *person_stages(policy, roles),
        enough_units(policy, rules.least),
        *place_steps(boxes.shapes),
        person_units_step(roles, boxes),
        *extent_stages,
        # under EIR l-diversity alone, added persons break nothing, and clusters carry its proof
        *holding_steps(policy, rules, keys),
        *feasibility(policy, rules, exact=False, leaves_out=True),
        *places,
        Embedded("clusters", (*cuts, *growth_stages(how), *residual_stages(how)), (MEMBERS,)),
        some_class(),
        *cell_steps(roles.quasi, policy.publish.cells, extents),
    )
    layout, columns = published_columns(policy, roles, {})
    return Compiled(stages, Assembly(columns, tuple(keys), persons=PERSONS), layout)


def _check_block_size(options: Danonyir, rows: int, least: int) -> None:
    path = "algorithm.block_size"
    if options.block_size == "all":
        if rows > MOST_EXACT:
            raise InfeasibleError(
                Problem(
                    path,
                    "all takes one statement after the other for every person, and"
                    f" {many(rows, 'row is', 'rows are')} too many for that",
                    allowed=f"all up to {MOST_EXACT} rows, or a number of persons",
                    hint="leave it out: blocks of 128 persons grow side by side",
                )
            )
    elif options.block_size < least:
        raise InfeasibleError(
            Problem(
                path,
                f"is smaller than a class, which needs {least} persons",
                allowed=f"{least} or more, or all",
                hint="blocks of ten classes or more lose little",
            )
        )


def _blocks(
    roles: Roles, options: Danonyir, rules: PersonRules, rows: int
) -> tuple[tuple[Stage, ...], tuple[Stage, ...]]:
    """Stages that place the codes of every domain, and that make the cuts with the least loss, down
    to `block_size`.

    Rules that added persons may break have to hold in every block as a whole. Otherwise persons
    could remain that none of its classes can take.
    """
    if options.block_size == "all":
        return (), ()
    half = max(options.block_size // 2, rules.least)
    judged = rules if rules.rules else None
    how = Partitioning(k=half, split="loss", strict=True, persons=judged, plain=True, compare=1)
    places, *cuts = partition_stages(roles.quasi, how, rows)
    return (places,), tuple(cuts)
