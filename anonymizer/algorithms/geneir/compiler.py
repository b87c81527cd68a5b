"""Compiles the algorithm `geneir`: from policy and profile to stages, assembly and layout."""

from __future__ import annotations

from anonymizer.algorithms.compiled import Assembly, Compiled, published
from anonymizer.algorithms.danonyir.clustering import Clustering
from anonymizer.algorithms.encode import PERSONS, coded_stages, domain_steps, person_stages
from anonymizer.algorithms.geneir.climbing import climbing_stages
from anonymizer.algorithms.guards import enough_units
from anonymizer.algorithms.lattice.publish import recoded_cells
from anonymizer.algorithms.lattice.recode import ONE, climbed, recode_steps
from anonymizer.algorithms.persons.boxes import SCALE, Boxes, Node
from anonymizer.algorithms.persons.feasible import feasibility, some_class
from anonymizer.algorithms.persons.rules import holding_steps, person_rules
from anonymizer.algorithms.persons.units import person_units_step
from anonymizer.compile import Sql
from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Stage, Step


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
        *_place_steps(roles, nodes),
        person_units_step(roles, boxes),
        *holding_steps(policy, rules, keys),
        *feasibility(policy, rules, leaves_out=True),
        *climbing_stages(how, nodes),
        some_class(),
        *recoded_cells(roles, policy.publish.cells),
    )
    layout, columns = published(policy, roles, {})
    return Compiled(stages, Assembly(columns, tuple(keys), persons=PERSONS), layout)


def _place_steps(roles: Roles, nodes: tuple[Node, ...]) -> tuple[Step, ...]:
    return tuple(
        Step(
            f"nodes above {node.attribute.column}",
            "geneir/places.sql.j2",
            {
                "recoding": a.recoding,
                "places": node.places,
                "levels": node.attribute.levels,
                "per": ONE // SCALE,
            },
        )
        for a, node in zip(climbed(roles), nodes, strict=True)
    )
