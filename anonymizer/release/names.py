"""The names of a release's objects."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile import Table
from anonymizer.policy import AnyPolicy, SchemaPolicy
from anonymizer.policy.names import separated_tables
from anonymizer.release.objects import Recorded


@dataclass(frozen=True, slots=True)
class Names:
    """A published view, its frozen rows and its manifest, in one schema."""

    schema: str
    name: str
    run_id: str
    tables: tuple[str, ...] = ()
    """Further published tables: one per sensitive column of an msb release, or those of a release
    of several tables besides the persons'."""
    several: bool = False
    """Whether the policy has several tables."""
    compared: bool = False
    """Whether a ledger compares the release with earlier ones."""

    @classmethod
    def of(cls, policy: AnyPolicy, run_id: str) -> Names:
        compared = policy.ledger is not None
        if isinstance(policy, SchemaPolicy):
            name, *others = (policy.view(table) for table in (policy.person, *policy.children))
            return cls(policy.publish.schema_, name, run_id, tuple(others), True, compared)
        schema, name = policy.publish.schema_, policy.publish.name
        if policy.publish.replace_source:
            *above, name = policy.source.parts
            schema = above[-1] if above else "main"
        tables = tuple(separated_tables(policy).values())
        return cls(schema, name, run_id, tables, compared=compared)

    @property
    def path(self) -> str:
        """The path of the names in the policy."""
        return "publish.names" if self.several else "publish.name"

    @property
    def other(self) -> str:
        """The setting to change for other names."""
        names = "publish.prefix, publish.names" if self.several else "publish.name"
        return f"choose another {names} or publish.schema"

    @property
    def release(self) -> str:
        return f"{self.schema}.{self.name}"

    def view(self, catalog: str | None) -> Table:
        return Table(self.name, self.schema, catalog)

    def rows(self, catalog: str | None) -> Table:
        """The frozen table behind the view; named by run, so that a swap can be atomic."""
        return Table(f"_{self.name}_{self.run_id}", self.schema, catalog)

    def separate(self, name: str, catalog: str | None) -> Table:
        """A further published table."""
        return Table(name, self.schema, catalog)

    def published(self, catalog: str | None) -> tuple[Table, ...]:
        """The view and every further table: the published objects besides the manifest."""
        return (self.view(catalog), *(self.separate(name, catalog) for name in self.tables))

    def manifest(self, catalog: str | None) -> Table:
        return Table(f"{self.name}_manifest", self.schema, catalog)

    def recorded(self) -> tuple[Recorded, ...]:
        made = (
            (self.rows(None), "rows"),
            (self.view(None), "view"),
            (self.manifest(None), "manifest"),
            *((self.separate(name, None), "values") for name in self.tables),
        )
        return tuple(
            Recorded(self.release, self.schema, table.name, kind, self.run_id)
            for table, kind in made
        )
