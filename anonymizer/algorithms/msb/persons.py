"""Groups persons with several rows: a person is one record, with one value per column.

A group then consists of persons: at most 1/l of them have any one value. All rows of a person show
the same group, while the tables of values hold one row per person. To an observer who knows the
members of a group and the number of rows of each, a value is equally likely for all members.
With a row of values per row of the view, a value would be likelier for persons with more rows. For
the same reason a person must have one value per sensitive column: if the values of several rows
were separated and shuffled, a value would again be likelier for persons with more rows.
"""

from __future__ import annotations

from anonymizer.algorithms.encode import CODED
from anonymizer.compile import work
from anonymizer.errors import Problem, SourceError
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.source.profile import Sensitive
from anonymizer.source.roles import Roles
from anonymizer.steps import Guard, Row, Stage, Step

RECORDS = work("msb_records")
"""One row of every person, in the columns of CODED."""


def record_stages(roles: Roles) -> tuple[Stage, ...]:
    """Stages that write RECORDS; a person with different values in one column stops the run."""
    return (
        *(_one_value(column) for column in roles.sensitive),
        Step("one record per person", "msb/records.sql.j2", {"coded": CODED, "records": RECORDS}),
    )


def group_rows_step() -> Step:
    """The step that reduces CODED to the rows of grouped persons, with the group's number."""
    return Step("rows of persons", "msb/person_rows.sql.j2", {"coded": CODED, "records": RECORDS})


def _one_value(column: Sensitive) -> Guard:
    def explain(row: Row) -> Problem:
        return Problem(
            column_path(column.column),
            f"differs between the rows of {many(row[0], 'person')}, and msb takes a person as one"
            " record with one value",
            hint="gather a person's values into one in source.query, for instance by"
            " string_agg(distinct ...), or keep them all with eir_l and mondrian or danonyir",
        )

    query = Step(
        f"one value of {column.column} per person",
        "msb/guard_persons.sql.j2",
        {"coded": CODED, "column": column.s},
    )
    return Guard(query, explain, SourceError)
