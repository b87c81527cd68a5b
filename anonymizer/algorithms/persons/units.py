"""Makes persons the units of an algorithm."""

from __future__ import annotations

from anonymizer.algorithms.encode import CODED, UNITS
from anonymizer.algorithms.persons.boxes import Boxes
from anonymizer.compile import Table, work
from anonymizer.policy import Policy
from anonymizer.source.draws import later_draw
from anonymizer.source.roles import Roles
from anonymizer.steps import Stage, Step

EXTENTS = work("extents")


def person_units_step(roles: Roles, boxes: Boxes) -> Step:
    """The step that makes every person a unit with its box."""
    return Step(
        "persons and their boxes",
        "persons/units.sql.j2",
        {
            "coded": CODED,
            "units": UNITS,
            "attributes": roles.quasi,
            "shapes": boxes.shapes,
            "places": [one.places for one in boxes.shapes],
            "points": boxes.points(),
            "loss": boxes.loss(),
            "order_draw": later_draw("draw", "order"),
        },
    )


def extent_steps(policy: Policy, roles: Roles) -> tuple[Table, tuple[Stage, ...]]:
    """The table of tuples that the cells of a unit have to cover, and the stages that make it.

    If the rows of a person may differ (`merge_person_rows`), a unit is a person and has several
    tuples; the partition uses one of them.
    """
    if not policy.merge_person_rows:
        return UNITS, ()
    step = Step(
        "tuples of persons",
        "persons/extents.sql.j2",
        {"coded": CODED, "units": UNITS, "extents": EXTENTS, "codes": [a.c for a in roles.quasi]},
    )
    return EXTENTS, (step,)
