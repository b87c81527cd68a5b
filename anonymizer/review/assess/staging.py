"""Work tables of an assessment: the equivalence classes, computed once, and their members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymizer.compile import NumberedColumn, Sql, ident, render, work
from anonymizer.review.assess.opening import Opened
from anonymizer.source.profile import Kind, kind_of, published_type

CLASSES = work("assess_classes")
"""class_id, q1…, n (rows), persons; one row per distinct tuple."""
MEMBERS = work("assess_members")
"""class_id, s1…, person; one row per row of the table."""


@dataclass(frozen=True, slots=True)
class Valued:
    """A sensitive column of an assessment; `s<index>` in MEMBERS."""

    index: int
    column: str
    sql_type: str
    kind: Kind

    s = NumberedColumn("s")


@dataclass(frozen=True, slots=True)
class Staged:
    """A table that has been reduced to its distinct tuples."""

    opened: Opened
    quasi: tuple[str, ...]
    sensitive: tuple[Valued, ...]
    person: str | None

    @property
    def q(self) -> list[Sql]:
        """The quasi-identifiers in CLASSES."""
        return [Sql(f"q{i}") for i in range(1, len(self.quasi) + 1)]

    @property
    def unit(self) -> Sql:
        """The column of CLASSES that counts the protected units."""
        return Sql("persons" if self.person is not None else "n")

    def select(self, template: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Run a template over the staged tables and fetch its result, which is small."""
        known = {
            "classes": CLASSES,
            "members": MEMBERS,
            "quasi": self.q,
            "unit": self.unit,
            "by_person": self.person is not None,
        }
        text = render(template, {**known, **parameters}).text
        return self.opened.engine.raw(text, template.removesuffix(".sql.j2"))


def stage(
    opened: Opened, quasi: tuple[str, ...], sensitive: tuple[str, ...], person: str | None
) -> Staged:
    """Stage the table in two scans: one for the classes, one that assigns each row its class."""
    valued = tuple(
        Valued(
            i,
            name,
            published_type(opened.type_of(name)),
            kind_of(opened.type_of(name)) or "categorical",
        )
        for i, name in enumerate(sensitive, start=1)
    )
    staged = Staged(opened, quasi, valued, person)
    keys = [(opened.value(name), q) for name, q in zip(quasi, staged.q, strict=True)]
    source = {
        "source": opened.relation.table or opened.relation.sql,
        "relation": opened.relation.sql,
        "keys": keys,
        "person": None if person is None else ident(person),
    }
    staged.select("assess/classes.sql.j2", **source)
    if valued or person is not None:
        carried = [(opened.value(v.column), v.s) for v in valued]
        staged.select("assess/members.sql.j2", **source, carried=carried)
    return staged
