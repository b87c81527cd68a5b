"""The step in which the relations of a release in Spark's catalog take their places.

A catalog replaces one view at a time. The view of a release without further tables reads its frozen
rows. Of a release of several relations, one view unites the frozen rows of all, and each published
view reads its part of it: replacing that one view replaces all of them. Where columns have changed,
there is another such view, and the published views are replaced one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import md5
from typing import TYPE_CHECKING, TypeAlias

from anonymizer.compile import Table
from anonymizer.engines.spark.tables import name_in_spark, quote_name
from anonymizer.release.objects import Names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OF = "anonymizer.release"
RUN = "anonymizer.run_id"
UNITED = "anonymizer.united"
"""The name of the view of which a published view reads a part."""
PART = "anonymizer.part"
"""The number of that part."""
Definition: TypeAlias = tuple[str, Mapping[str, str]]
"""The query of a view, and its properties."""


@dataclass(frozen=True, slots=True)
class Switch:
    """The views of a release, each with what it will read."""

    spark: SparkSession
    names: Names
    frozen: Sequence[Table]
    """The frozen rows of the view and of every further table, in the order of the published."""

    @property
    def united(self) -> Table:
        """The view that unites the rows; its name depends on the columns."""
        columns = repr([self._columns(table) for table in self.frozen]).encode()
        digest = md5(columns, usedforsecurity=False).hexdigest()[:8]
        return Table(f"_{self.names.name}_{digest}", self.names.schema)

    @contextmanager
    def done(self) -> Iterator[None]:
        """Let the published views read the new rows; if the block fails, they read the old ones."""
        new = dict(self._definitions())
        before = {view: definition_of(self.spark, view) for view in new}
        try:
            for view, definition in new.items():
                if not _stays(definition, before[view]):
                    show(self.spark, view, definition)
            yield
        except BaseException:
            with suppress(Exception):  # a session that has ended leaves the views as they are
                for view, old in before.items():
                    if old is None:
                        self.spark.sql(f"drop view if exists {name_in_spark(view)}")
                    else:
                        show(self.spark, view, old)
            raise

    def _definitions(self) -> Iterator[tuple[Table, Definition]]:
        marks = {OF: self.names.release, RUN: self.names.run_id}
        published = self.names.published(None)
        if len(published) == 1:
            columns = (quote_name(name) for name, _ in self._columns(self.frozen[0]))
            listed = f"select {', '.join(columns)} from {name_in_spark(self.frozen[0])}"
            yield published[0], (listed, marks)
            return
        # first what the published views read: where these stay, this is the step
        united = self.united
        yield united, (self._union(), marks)
        # (without the run, since they stay)
        own = {OF: self.names.release, UNITED: united.name}
        for part, (view, table) in enumerate(zip(published, self.frozen, strict=True)):
            columns = (
                f"p{part}_{at} as {quote_name(name)}"
                for at, (name, _) in enumerate(self._columns(table))
            )
            listed = f"select {', '.join(columns)} from {name_in_spark(united)} where part = {part}"
            yield view, (listed, {**own, PART: str(part)})

    def _union(self) -> str:
        columns = [self._columns(table) for table in self.frozen]
        parts = []
        for part, table in enumerate(self.frozen):
            listed = [f"{part} as part"]
            for number, own in enumerate(columns):
                for at, (name, kind) in enumerate(own):
                    value = quote_name(name) if number == part else f"cast(null as {kind})"
                    listed.append(f"{value} as p{number}_{at}")
            parts.append(f"select {', '.join(listed)} from {name_in_spark(table)}")
        return " union all ".join(parts)

    def _columns(self, table: Table) -> list[tuple[str, str]]:
        fields = self.spark.table(name_in_spark(table)).schema.fields
        return [(field.name, field.dataType.simpleString()) for field in fields]


def _stays(new: Definition, old: Definition | None) -> bool:
    """Return whether a view reads the same part of the same view as before."""
    return old is not None and UNITED in new[1] and new[1] == old[1]


def show(spark: SparkSession, view: Table, definition: Definition) -> None:
    """Create a view, or replace it."""
    query, marks = definition
    listed = ", ".join(f"{text(name)} = {text(value)}" for name, value in marks.items())
    spark.sql(f"create or replace view {name_in_spark(view)} tblproperties ({listed}) as {query}")


def definition_of(spark: SparkSession, view: Table) -> Definition | None:
    """The definition of a view of this tool; None if there is none of this name."""
    if not spark.catalog.tableExists(name_in_spark(view)):
        return None
    found = properties(spark, view)
    marks = {name: found[name] for name in (OF, RUN, UNITED, PART) if name in found}
    return _described(spark, view)["View Text"], marks


def is_view(spark: SparkSession, table: Table) -> bool:
    """Return whether a relation of the catalog is a view."""
    return _described(spark, table)["Type"] == "VIEW"


def _described(spark: SparkSession, table: Table) -> dict[str, str]:
    rows = spark.sql(f"describe extended {name_in_spark(table)}").collect()
    return {str(row[0]): str(row[1]) for row in rows}


def run_of(spark: SparkSession, view: Table) -> str:
    """The run whose rows a published view reads; `?` if that is not said."""
    found = properties(spark, view)
    if UNITED in found:
        found = properties(spark, Table(found[UNITED], view.schema))
    return found.get(RUN, "?")


def properties(spark: SparkSession, table: Table) -> dict[str, str]:
    """The properties of a table or view, including the release it belongs to."""
    rows = spark.sql(f"show tblproperties {name_in_spark(table)}").collect()
    return {str(row[0]): str(row[1]) for row in rows}


def text(value: str) -> str:
    """A text as a Spark SQL literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
