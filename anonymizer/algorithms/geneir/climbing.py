"""The stages that generalize the remaining persons level by level; groups that hold are classes."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.algorithms.danonyir.clustering import Clustering, empty
from anonymizer.algorithms.danonyir.other_blocks import CLOSED, RESIDUAL, place_in_other_blocks
from anonymizer.algorithms.danonyir.residual import residual_context
from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.lattice.publish import CLASS_LEVELS
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.persons.boxes import Node
from anonymizer.algorithms.persons.judging import Judging
from anonymizer.compile import Sql, lit, work
from anonymizer.source.draws import later_draw
from anonymizer.source.profile import Attribute
from anonymizer.steps import Loop, Note, Stage, Step

LADDER = work("ladder")
ROUND = work("climbing_round")


def climbing_stages(how: Clustering, nodes: Sequence[Node]) -> tuple[Stage, ...]:
    """Stages that write MEMBERS and CLASS_LEVELS from UNITS."""
    attributes = [node.attribute for node in nodes]
    steps = sum(a.height for a in attributes)
    judging = Judging(how.rules, "climbers")
    context = {
        **residual_context(how),
        "ladder": LADDER,
        "round": ROUND,
        "units": UNITS,
        "members": MEMBERS,
        "class_levels": CLASS_LEVELS,
        "asked": judging.asked,
        **judging.passed,
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
        Step("climb", "geneir/climb.sql.j2", context),
        *judging.steps(),
        Step("classes leave", "geneir/leave.sql.j2", context),
        Step("levels of these classes", "geneir/leave_levels.sql.j2", context),
        Step("next round", "geneir/next_round.sql.j2", context),
    )
    return (
        Step("draw the order of columns", "geneir/ladder.sql.j2", context),
        Step("first round", "geneir/first_round.sql.j2", context),
        empty("no classes yet", MEMBERS, ("unit", "class_id")),
        empty("no levels yet", CLASS_LEVELS, ("class_id", *(f"l{a.index}" for a in attributes))),
        Loop(
            "climb",
            body,
            until=Step("more to climb", "geneir/more.sql.j2", context),
            at_most=steps + 1,
        ),
        Step("classes that hold", "geneir/classes.sql.j2", context),
        Step("residual persons", "geneir/left.sql.j2", context),
        Note(Step("number of residual persons", "geneir/residual.sql.j2", context)),
        *place_in_other_blocks(how, context),
        Step("levels of classes", "geneir/class_levels.sql.j2", context),
    )


def _key(a: Attribute) -> Sql:
    """The node of a person at the current level of the remaining persons."""
    whens = " ".join(f"when {j.number} then u.node{j.number}_{a.index}" for j in a.levels)
    return Sql(
        f"case h.l{a.index} {whens} else u.leaf{a.index} end" if whens else f"u.leaf{a.index}"
    )
