"""The algorithm `geneir`: generalizes persons bottom-up under identity-reserved guarantees."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.algorithms.core.compiled import Assembly, Compiled, published_columns
from anonymizer.algorithms.core.encode import (
    PERSONS,
    UNITS,
    coded_stages,
    domain_steps,
    person_stages,
)
from anonymizer.algorithms.core.guards import enough_units, feasibility, some_class
from anonymizer.algorithms.core.partition import MEMBERS
from anonymizer.algorithms.core.person_boxes import SCALE, Boxes, Node, person_units_step
from anonymizer.algorithms.core.person_rules import Judging, holding_steps, person_rules
from anonymizer.algorithms.danonyir import (
    CLOSED,
    RESIDUAL,
    Clustering,
    empty,
    place_in_other_blocks,
    residual_context,
)
from anonymizer.algorithms.descriptor import (
    COMPOSITION,
    DOWNCODING,
    MINIMALITY,
    SKEWNESS,
    Algorithm,
)
from anonymizer.algorithms.lattice.recode import (
    CLASS_LEVELS,
    ONE,
    lattice_columns,
    recode_steps,
    recoded_cells,
)
from anonymizer.compile import Sql, lit, work
from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import Geneir
from anonymizer.policy.paths import column_path
from anonymizer.source.profile import Attribute, TableProfile
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import later_draw
from anonymizer.steps import Loop, Note, Stage, Step

# The algorithm `geneir`: bottom-up generalization of persons under identity-reserved guarantees.
#
# Source: Tong, Tao, Tang, Yang, "Identity-reserved anonymity in privacy preserving data publishing"
# (2010), as Wang et al. (2018, §5.1 and §6.1.3) describe it.


ALGORITHM = Algorithm(
    options=Geneir,
    compiler="anonymizer.algorithms.geneir:compile_geneir",
    towards=frozenset({"size", "persons"}),
    words="Generalization of persons with all of their records under an identity-reserved"
    " model (Wang et al. 2018).",
    attacks=(COMPOSITION, DOWNCODING, MINIMALITY, SKEWNESS),
)


# The stages that generalize the remaining persons level by level; groups that hold are classes.


COLUMN_ORDER = work("column_order")
ROUND = work("climbing_round")


def climbing_stages(how: Clustering, nodes: Sequence[Node]) -> tuple[Stage, ...]:
    """Stages that write MEMBERS and CLASS_LEVELS from UNITS."""
    attributes = [node.attribute for node in nodes]
    steps = sum(a.height for a in attributes)
    judging = Judging(how.rules, "climbers")
    context = {
        **residual_context(how),
        "column_order": COLUMN_ORDER,
        "round": ROUND,
        "units": UNITS,
        "members": MEMBERS,
        "class_levels": CLASS_LEVELS,
        "asked": judging.groups,
        **judging.verdict_parameters,
        "closed": CLOSED,
        "residual": RESIDUAL,
        "attributes": attributes,
        "level_names": [(lit(a.index), Sql(f"l{a.index}")) for a in attributes],
        "keys": [_key(a) for a in attributes],
        "copied": [Sql(n) for node in nodes for n in node.columns if n != node.name("level")],
        "levels": [(Sql(node.name("level")), Sql(f"l{node.attribute.index}")) for node in nodes],
        "steps": steps,
        "least": how.rules.least,
        "draw": later_draw("min(draw)", "ladder"),
        "next_draw": Sql("md5_number(concat(hex(draw), ':', step))"),
    }
    body = (
        Step("climb", "geneir/climb", context),
        *judging.steps(),
        Step("classes leave", "geneir/leave", context),
        Step("levels of these classes", "geneir/leave_levels", context),
        Step("next round", "geneir/next_round", context),
    )
    return (
        Step("draw the order of columns", "geneir/column_order", context),
        Step("first round", "geneir/first_round", context),
        empty("no classes yet", MEMBERS, ("unit", "class_id")),
        empty("no levels yet", CLASS_LEVELS, ("class_id", *(f"l{a.index}" for a in attributes))),
        Loop(
            "climb",
            body,
            until=Step("more to climb", "geneir/more", context),
            at_most=steps + 1,
        ),
        Step("classes that hold", "geneir/classes", context),
        Step("residual persons", "geneir/left", context),
        Note(Step("number of residual persons", "geneir/residual", context)),
        *place_in_other_blocks(how, context),
        Step("levels of classes", "geneir/class_levels", context),
    )


def _key(a: Attribute) -> Sql:
    """The node of a person at the current level of the remaining persons."""
    whens = " ".join(f"when {j.number} then u.node{j.number}_{a.index}" for j in a.levels)
    return Sql(
        f"case h.l{a.index} {whens} else u.leaf{a.index} end" if whens else f"u.leaf{a.index}"
    )


# Compiles the algorithm `geneir`: from policy and profile to stages, assembly and layout.


def compile_geneir(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Compile the stages that raise the levels of the remaining persons until classes hold.

    Raises PolicyError for hierarchies whose levels do not nest: rows that share a node at one level
    may have different nodes at the next.
    """
    assert profile.rows is not None
    problems = [
        Problem(
            column_path(a.column, "hierarchy"),
            "has levels that do not nest, and geneir climbs from level to level",
            hint="mode: chain",
        )
        for a, shape in zip(roles.quasi, profile.shapes, strict=True)
        if not shape.nests
    ]
    if problems:
        raise PolicyError(problems)
    keys = [Sql("person")]
    rules = person_rules(policy, roles)
    nodes = tuple(Node(a) for a in roles.quasi)
    boxes = Boxes(nodes)
    leaves_out = policy.suppression_limit > 0
    how = Clustering(boxes, rules, [a.c for a in roles.quasi], "all", profile.rows, leaves_out)
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=False),
        *person_stages(policy, roles),
        enough_units(policy, rules.least),
        *recode_steps(policy, roles),
        *(
            Step(
                f"nodes above {node.attribute.column}",
                "geneir/places",
                {
                    "recoding": a.recoding,
                    "places": node.places,
                    "levels": node.attribute.levels,
                    "per": ONE // SCALE,
                },
            )
            for a, node in zip(lattice_columns(roles), nodes, strict=True)
        ),
        person_units_step(roles, boxes),
        *holding_steps(policy, rules, keys),
        *feasibility(policy, rules, leaves_out=True),
        *climbing_stages(how, nodes),
        some_class(),
        *recoded_cells(roles, policy.publish.cells),
    )
    layout, columns = published_columns(policy, roles, {})
    return Compiled(stages, Assembly(columns, tuple(keys), persons=PERSONS), layout)
