"""Labels of cells and nodes that show a rare value, as a bound or in a set."""

from __future__ import annotations

from collections.abc import Iterable

from anonymizer.compile import Sql, Table, ident, render
from anonymizer.contract.checks import RunSql

HIDDEN = "(rare)"


def rare_labels(
    run: RunSql,
    relation: Table | Sql,
    value: Sql,
    labels: Iterable[str | None],
    floor: int,
    *,
    number: bool,
    person: Sql | None = None,
) -> set[str]:
    """The labels that contain a value of fewer than `floor` rows (persons).

    A number must occur as a whole; of texts and dates any part counts, so that rather too many
    labels are hidden than too few.
    """
    wanted = sorted({label for label in labels if label})
    if not wanted:
        return set()
    parameters = {
        "source": relation,
        "relation": ident(relation),
        "value": value,
        "unit": Sql(f"count(distinct {person})") if person is not None else Sql("count(*)"),
        "labels": wanted,
        "floor": floor,
        "number": number,
    }
    return {str(row[0]) for row in run(render("explore/rare_labels.sql.j2", parameters).text)}
