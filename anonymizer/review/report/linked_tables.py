"""What a report says of several tables: their columns, their rows, and who knows rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from anonymizer.compile import ident
from anonymizer.contract.layout import Requirement
from anonymizer.contract.reading import Tables
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.columns import MASKS
from anonymizer.process.text import figure
from anonymizer.release.certificate import mask_words
from anonymizer.review.inputs import Published
from anonymizer.review.observers import OPEN, Observer

SAYS = {
    "key": "a key of the source, published as a number drawn for this release",
    "quasi": "generalized, so that at least k persons share all such cells",
    "event": "what somebody may know of a row: raised, class by class, to what enough persons have",
    "sensitive": "published as it is; its rules hold in every class of persons",
    "keep": "published as it is",
    "identifier": "not published",
    "drop": "not published",
}
"""What is done with the columns of several tables, by their roles."""
AS_IT_IS = "published as it is: nobody is to know a row (privacy.knows.events is 0)"
"""Text for an event column if events are not protected."""
IN_CLASSES = "; its rule holds in every class, whatever its cells stand for"
"""Text for an event column with a rule."""


def columns_of_tables(policy: SchemaPolicy) -> Iterator[dict[str, str]]:
    """Every column of several tables: its table, its name, its role, and its treatment."""
    tables = zip((policy.person, *policy.children), policy.singles.values(), strict=True)
    for name, single in tables:
        for column, one in policy.tables[name].columns.items():
            masked = mask_words(single, column)
            if one.role in MASKS:
                says = f"published masked: {masked}"
            elif one.role == "sensitive" and one.protect is None:
                says = "published as it is, without a rule of its own"
            else:
                known = one.role != "event" or policy.knows.events > 0
                says = SAYS[one.role] if known else AS_IT_IS
                says += IN_CLASSES if one.role == "event" and one.protect is not None else ""
                says += f"; read {masked}" if masked else ""
            yield {"table": name, "column": column, "role": one.role, "says": says}


def full_name(described: Mapping[str, str]) -> str:
    """The name of a column that a report describes; with several tables, after its table's."""
    return ".".join(filter(None, (described.get("table"), described["column"])))


@dataclass(frozen=True, slots=True)
class OneTable:
    """Figures of one of several published tables."""

    name: str
    above: str | None
    rows: int
    suppressed: int
    orphans: int
    """Rows of the source that reach no person, and are left out."""
    lost: tuple[tuple[str, float], ...]
    """Mean NCP of the cells of each generalized column."""


@dataclass(frozen=True, slots=True)
class TablesReport:
    """What a report says of several tables together."""

    k: int
    tables: tuple[OneTable, ...]
    after: tuple[Observer, ...]
    before: tuple[Observer, ...]

    @property
    def open(self) -> tuple[str, ...]:
        """Observers against whom nothing is guaranteed, and what they can learn."""
        return tuple(
            f"{OPEN[one.knows]}: {figure(one.alone)} of {figure(one.persons)} persons are alone to"
            f" them, {figure(one.below)} are among fewer than {figure(self.k)}."
            for one in self.after
            if one.knows in OPEN and not one.promised
        )

    @property
    def most(self) -> float | None:
        """Largest risk for an observer against whom the release promises something."""
        fewest = [one.fewest for one in self.after if one.promised and one.fewest]
        return 1 / min(fewest) if fewest else None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for programs."""
        return {
            "tables": [asdict(one) for one in self.tables],
            "observers": {
                "most": self.most,
                "before": [one.as_dict() for one in self.before] or None,
                "after": [one.as_dict() for one in self.after],
            },
            "not_promised": list(self.open),
        }


def figures_of_tables(release: Published, tables: Tables) -> Iterator[OneTable]:
    """Rows and losses of every table."""
    measures = release.manifest.data["measures"]
    for one in tables.tables:
        rows = int(release.run_sql(f"select count(*) from {ident(release.where(one))}")[0][0])
        if one is tables.persons:
            lost = {
                c.column: measures[f"ncp.{c.column}"]
                for c in one.layout.columns
                if f"ncp.{c.column}" in measures
            }
            suppressed, orphans = int(measures["suppressed"]), 0
        else:
            told = measures["tables"][one.table]
            lost, suppressed = told["ncp"], int(told["suppressed"])
            orphans = int(told.get("orphans", 0))
        above = next(iter(one.layout.links.values()), None)
        yield OneTable(one.name, above, rows, suppressed, orphans, tuple(lost.items()))


def required(release: Published) -> Iterator[Requirement]:
    """The requirements on all tables."""
    yield from release.manifest.requirements
    for one in release.tables.tables if release.tables is not None else ():
        for item in one.requirements:
            yield replace(item, column=item.column and f"{one.table}.{item.column}")
