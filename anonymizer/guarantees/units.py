"""Further units: every class holds rows of at least l different units, such as households.

|{u : n(E, u) > 0}| >= l

for a column that is read and not published. A family of five then fills no class of five. Units:
number of different values; a NULL is no unit. It is distinct l-diversity of a column that nobody
sees, so that the release does not show it: the run judges it against the source. Exact (whole
numbers).
"""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.contract.checks import UNITS
from anonymizer.contract.layout import Ask
from anonymizer.guarantees.diversity import DistinctL
from anonymizer.guarantees.guarantee import Example, Guarantee, RuleInput


def _rules(given: RuleInput) -> Iterator[DistinctL]:
    """The rules of all columns, or of the one that is given."""
    for column, n in given.value.items():
        if given.column in (None, column):
            yield DistinctL(column, n)


GUARANTEE = Guarantee(
    name=UNITS,
    field="privacy.units",
    parameter="l",
    family="units",
    of_values=False,
    asks=(
        Ask(
            "source_units",
            "further units",
            of="source",
            name=UNITS,
            given=("l",),
            worst="least",
        ),
    ),
    rules=_rules,
    says="Every {where} holds at least {l} different values of {column}, a column that is not"
    " published.",
    docs=(
        "further units in a class, such as households | `units: {household: 3}` | of a run"
        " | different values of a column that is not published ≥ 3 | values, more",
    ),
    examples=(Example({"value": 2}, holds="ab bc.", fails="ab b.", terms={"l": 2}),),
)
