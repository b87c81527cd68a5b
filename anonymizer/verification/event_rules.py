"""Rules on event columns, whose cells are generalized: judged in the worst case they allow.

A cell may stand for several values. The release lists which cells admit one and the same value
(`together`); a choice of values that breaks the rule, if there is one, is found among those. A cell
of which nothing is said, or less than its own text says, admits anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from anonymizer.compile import Table
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.errors import NothingToCheckError
from anonymizer.verification.guarantees import questions
from anonymizer.verification.questions import Over, Question

OWNED = "owned_rows"
CLASS, PERSON = "anonymizer:class", "anonymizer:person"
"""Columns with a row's class and person; no published column has these names."""
RULE, TOGETHER = "eir_l", "together"


def of_cells(
    layout: Layout, column: PublishedColumn, requirement: Requirement, owned: Mapping[str, Any]
) -> Iterator[Question]:
    """The questions of a rule. Raises NothingToCheckError for a rule that cells cannot answer.

    `owned`: the parameters that lead the rows to their persons.
    """
    listed = requirement.parameters.get(TOGETHER)
    if (
        requirement.name != RULE
        or set(requirement.parameters) != {"l", TOGETHER}
        or column.kind != "categorical"
        or column.list_cells
        or column.name is None
        or not is_listed(listed)
    ):
        said = "is on an event column, and the release does not say how its cells are to be read"
        raise NothingToCheckError.at(f"privacy.{requirement.name}", said)
    assert isinstance(listed, list | tuple)
    shown = PublishedColumn(column.column, "sensitive", "categorical", "BIGINT", name=column.name)
    judged = Layout(layout.algorithm, layout.cells, (shown,), class_id=CLASS, person_id=PERSON)
    parameters = {
        **owned,
        "together": numbered(listed),
        "cell": column.name,
        "nullable": column.nullable,
        "class_name": CLASS,
        "person_name": PERSON,
    }
    over = Over(OWNED, "owned_cells", parameters)
    plain = replace(requirement, parameters={"l": requirement.parameters["l"]})
    for question in questions(Table(OWNED), judged, plain):
        yield replace(question, over=over)


def numbered(listed: Sequence[Sequence[str]]) -> list[tuple[int, str]]:
    """Every label with the number of its set."""
    return [(place, label) for place, labels in enumerate(listed, 1) for label in labels]


def is_listed(listed: Any) -> bool:
    """Whether it is a list of lists of labels."""
    return isinstance(listed, list | tuple) and all(
        isinstance(labels, list | tuple) and all(isinstance(label, str) for label in labels)
        for labels in listed
    )
