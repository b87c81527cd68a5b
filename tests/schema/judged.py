"""What published tables of the hospital promise, recomputed in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anonymizer import SchemaPolicy
from tests import models
from tests.models import Classes, Persons
from tests.schema import hospital
from tests.schema.hospital import Rows
from tests.schema.oracle import Child, Published, below_k, left_by_numbers


def read(of: SchemaPolicy, file: Path) -> Published:
    """The published tables of a policy, by their names there."""
    views = {name: f"{of.publish.schema_}.{of.view(name)}" for name in of.tables}
    found = hospital.released(file, *views.values())
    # (lists of values as tuples, which can be told apart)
    rows = {
        name: [
            {c: tuple(cell) if isinstance(cell, list) else cell for c, cell in row.items()}
            for row in found[view]
        ]
        for name, view in views.items()
    }
    children = {}
    for name in of.children:
        table = of.tables[name]
        assert table.link is not None
        events = tuple(part for one in table.events for part in parts(of, rows[name], one))
        children[name] = Child(*table.link, key=table.published_key, events=events)
    quasi = tuple(part for one in of.persons.quasi for part in parts(of, rows[of.person], one))
    assert of.persons.key is not None
    return Published(of.person, of.persons.key, rows, children, quasi)


def parts(of: SchemaPolicy, rows: Rows, column: str) -> tuple[str, ...]:
    """The published columns of a generalized one."""
    if of.publish.cells == "text" or not rows:
        return (column,)
    names = (column, f"{column}_lo", f"{column}_hi", f"{column}_nullable")
    return tuple(name for name in names if name in rows[0])


def holds(of: SchemaPolicy, file: Path) -> Published:
    """Classes of k, k candidates whatever is known, whole references, dense keys."""
    found = read(of, file)
    k, knows = of.privacy.k_anonymity, of.privacy.knows
    assert k is not None
    assert min(map(len, found.classes(tuples=True))) >= k
    assert not below_k(found, knows.events, k, joined=knows.joined)
    if knows.rows:
        assert min(left_by_numbers(found).values()) >= k
    for name in of.children:
        assert len(found.owners(name)) == len(found.rows[name])  # every link leads to a person
    for name, table in of.tables.items():
        if table.published_key is not None:
            keys = sorted(row[table.published_key] for row in found.rows[name])
            assert keys == list(range(1, len(keys) + 1))
    return found


def in_classes(found: Published, table: str, column: str) -> tuple[Classes, Persons]:
    """The values of a column in the classes of their persons, and the persons of the same rows."""
    label = {row[found.key]: row["class_id"] for row in found.rows[found.person]}
    values: dict[Any, list[Any]] = {one: [] for one in label.values()}
    who: dict[Any, list[Any]] = {one: [] for one in label.values()}
    owners = found.persons() if table == found.person else found.owners(table)
    for row, person in zip(found.rows[table], owners, strict=True):
        values[label[person]].append(row[column])
        who[label[person]].append(person)
    return values, who


def worst(model: str, values: Classes, who: Persons, **options: Any) -> Any:
    """What the classes achieve in a model."""
    return MODELS[model](values, who, **options).worst


def _without_persons(values: Classes, who: Persons) -> models.Result:
    del who
    return models.distinct_l(values)


MODELS: Mapping[str, Callable[..., models.Result]] = {
    "distinct_l": _without_persons,
    "entropy_l": models.entropy_l,
    "alpha": models.alpha,
    "beta_likeness": models.beta_likeness,
    "t_closeness": lambda values, who, distance="equal", **rest: models.t_closeness(
        values, distance, persons=who, **rest
    ),
    "ir_kl": models.ir_kl,
    "eir_l": models.eir_l,
}


def names(checks: Sequence[Any]) -> set[tuple[str, str | None]]:
    """The checks of a verification."""
    return {(check.name, check.column) for check in checks}
