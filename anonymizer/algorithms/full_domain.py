"""Full-domain generalization: every attribute at one level of its hierarchy."""

from __future__ import annotations

from anonymizer.algorithms.core.compiled import Assembly, Compiled, published_columns
from anonymizer.algorithms.core.encode import (
    PERSONS,
    coded_stages,
    domain_steps,
    packed_units_step,
    person_stages,
    tuple_keys,
)
from anonymizer.algorithms.core.guards import enough_units
from anonymizer.algorithms.core.partition import MEMBERS
from anonymizer.algorithms.core.protections import protections
from anonymizer.algorithms.descriptor import (
    COMPOSITION,
    DOWNCODING,
    MINIMALITY,
    SKEWNESS,
    Algorithm,
)
from anonymizer.algorithms.lattice.judging import (
    NodeRules,
    judge_stages,
    lattice_context,
    node_rules,
)
from anonymizer.algorithms.lattice.recode import (
    CLASS_LEVELS,
    lattice_columns,
    packing,
    recode_steps,
    recoded_cells,
    tuple_steps,
)
from anonymizer.algorithms.lattice.search import (
    BUDGET,
    MOST_LISTED,
    SUBSETS,
    additive,
    budgeted_stages,
    lattice_size,
    search_stages,
    suppression_loss,
)
from anonymizer.compile import ident
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.guarantees.requirements import least_class
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import FullDomain
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Guard, Note, Row, Stage, Step

ALGORITHM = Algorithm(
    options=FullDomain,
    compiler="anonymizer.algorithms.full_domain:compile_full_domain",
    towards=frozenset({"size", "protection", "share", "units"}),
    distances=frozenset({"equal", "ordered", "hierarchical"}),
    words="Full-domain recoding: every column is published on one level of its hierarchy.",
    attacks=(COMPOSITION, DOWNCODING, MINIMALITY, SKEWNESS),
)


# Compiles the algorithm `full_domain`: the release of the lattice node with the least loss.


def compile_full_domain(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Compile the stages that find and publish the optimum of the lattice.

    A lattice that is too large to list is searched within a budget.
    """
    context, columns, stages = lattice_stages(policy, profile, roles)
    levels = [(a.level, ident(f"level.{a.attribute.column}")) for a in lattice_columns(roles)]
    found = (
        *stages,
        _none_holds(policy, context),
        Step("the optimum", "lattice/optimum", context),
        Note(Step("levels of the optimum", "lattice/chosen", context | {"named": levels})),
        *judge_stages(context, columns),
        Step("units of published classes", "lattice/members", context),
        Step("levels of classes", "lattice/class_levels", context),
        *recoded_cells(roles, policy.publish.cells),
    )
    layout, expressions = published_columns(policy, roles, {})
    persons = PERSONS if policy.person is not None else None
    keys = tuple(tuple_keys(roles))
    return Compiled(found, Assembly(expressions, keys, persons=persons), layout)


def lattice_stages(
    policy: Policy, profile: TableProfile, roles: Roles, *, pruned: bool = True
) -> tuple[dict[str, object], tuple[NodeRules, ...], tuple[Stage, ...]]:
    """The template context, the judged columns, and the stages that judge nodes, or all of them."""
    packed = packing(profile.shapes)
    keys = tuple_keys(roles)
    columns = node_rules(policy, roles)
    context = lattice_context(policy, roles, packed, columns)
    context |= {"members": MEMBERS, "class_levels": CLASS_LEVELS, "size": None}
    _, rule_stages = protections(policy, roles, keys)
    if policy.suppression_limit:
        # a rule that the whole table breaks may hold after suppressing some rows
        rule_stages = tuple(stage for stage in rule_stages if not isinstance(stage, Guard))
    size = lattice_size(profile.shapes)
    budget = budget_of(policy, size) if pruned else None
    if budget is not None:
        # a size that would be too large for an integer is reported approximately
        told = size if size < 10**37 else float(f"{size:.3g}")
        context |= {"size": told, "subsets": SUBSETS, "additive": additive(context)}
        context["row_loss"] = suppression_loss(context)
    search = (
        search_stages(context, columns, pruned=pruned, size=size)
        if budget is None
        else budgeted_stages(context, columns, packed, budget)
    )
    return (
        context,
        columns,
        (
            *domain_steps(roles),
            *coded_stages(policy, roles, numbered=False, packed=True),
            *person_stages(policy, roles, keys),
            enough_units(policy, least_class(policy)),
            packed_units_step(policy, roles),
            *rule_stages,
            *recode_steps(policy, roles),
            *tuple_steps(policy, roles, packed, keys),
            *search,
        ),
    )


def budget_of(policy: Policy, size: int) -> int | None:
    """The largest number of nodes to judge; None: all that the proof of the optimum needs."""
    options = policy.algorithm
    given = options.budget if isinstance(options, FullDomain) else None
    return BUDGET if given is None and size > MOST_LISTED else given


def _none_holds(policy: Policy, context: dict[str, object]) -> Guard:
    unit = "persons" if policy.person is not None else "rows"

    def explain(row: Row) -> Problem:
        nodes, judged, allowed = row
        if allowed < 0:
            return Problem(
                "suppression_limit",
                f"is passed by {-allowed:,} {unit} before any node is judged: those that"
                " `nulls: suppress` leaves out",
                hint="raise suppression_limit, or let NULLs be a value: nulls: own_class",
            )
        if context["size"] is not None:
            return Problem(
                "privacy",
                f"holds at none of the {judged:,} nodes of the lattice that were judged (of"
                f" {nodes:,}), with {allowed:,} {unit} to suppress at most",
                hint="raise algorithm.budget or suppression_limit, or weaken the guarantees",
            )
        return Problem(
            "privacy",
            f"holds at no node of the lattice ({nodes:,} nodes, {judged:,} judged, the others"
            f" settled by them), with {allowed:,} {unit} to suppress at most",
            hint="raise suppression_limit, or weaken the guarantees",
        )

    return Guard(Step("a node that holds", "lattice/none_holds", context), explain, GuaranteeError)
