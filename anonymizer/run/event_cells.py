"""Which published cells of event columns with a rule admit one and the same value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anonymizer.algorithms.nodes import present
from anonymizer.algorithms.schema.events import known
from anonymizer.algorithms.schema.publishing import PublishedTable
from anonymizer.compile import ident
from anonymizer.contract.tables import Released
from anonymizer.engines.base import Engine
from anonymizer.policy import SchemaPolicy
from anonymizer.run.original_values import nodes_of
from anonymizer.steps import Step
from anonymizer.verification.event_rules import TOGETHER, numbered
from anonymizer.verification.questions import Achieved, Question


def together(engine: Engine, policy: SchemaPolicy, one: PublishedTable) -> dict[str, list[Any]]:
    """By event column with a rule: the sets of published labels that admit one and the same value.

    Reads the work tables of the published rows.
    """
    found: dict[str, list[Any]] = {}
    names = {column.column: column.name for column in one.layout.columns}
    for a in known(one.child):
        name = a.attribute.column
        if name not in policy.tables[one.child.name].ruled_events:
            continue
        context = {
            "link": one.child.linked,
            "present": present(a.attribute),
            "recoding": a.recoding,
            "shown": a.shown,
            "cell": ident(str(names[name])),
        }
        step = Step(f"cells of {name} that admit one value", "schema/together.sql.j2", context)
        rows = engine.raw(step.statement().text, "verification")
        found[name] = [list(labels) for (labels,) in rows]
    return found


def together_questions(one: PublishedTable, released: Released) -> Iterator[Question]:
    """The questions whether the values of the source are in the sets that the release lists."""
    for item in released.requirements:
        if TOGETHER not in item.parameters:
            continue
        attribute = next(a for a in one.child.attributes if a.column == item.column)
        column = next(c for c in one.layout.columns if c.column == item.column)
        parameters = {
            "link": one.child.linked,
            "nodes": nodes_of(attribute),
            "together": numbered(item.parameters[TOGETHER]),
            "cell": column.name,
            "typed": one.layout.cells == "typed",
            "label": "what",
        }
        name = f"{one.child.name}.{item.column}"
        found = (Achieved("n", "sum"),)
        yield Question("source_together", name, 0, "source_together", parameters, found)
