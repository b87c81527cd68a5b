"""The source of the table, the target and names of its release, and its context in words."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from anonymizer.policy.reading import Reading
from anonymizer.policy.values import (
    AsTuple,
    AtLeastTwo,
    DataFile,
    FilePath,
    FrozenMap,
    LocalPath,
    OneOf,
    Options,
    Positive,
    PositiveShare,
    TableName,
    Text,
    fail,
    file_format,
    file_stem,
    portable,
    table_parts,
)


class Context(Options):
    """The recipients, and what is known about them: printed, no effect on the run."""

    recipients: Text | None = None
    """The recipients of the release."""
    purpose: Text | None = None
    """The purpose of the release."""
    knowledge: Text | None = None
    """Knowledge of recipients about a person from elsewhere, and why they might search."""
    controls: Annotated[tuple[Text, ...], AsTuple] | None = None
    """Obligations of recipients: contracts, access, training, audits."""
    impact: Text | None = None
    """The consequences for a person who is re-identified."""
    stakeholders: Text | None = None
    """Parties that were consulted or informed: persons in the table, ethics committees, boards."""
    monitoring: Text | None = None
    """Measures after the release: reviews, new data, incidents."""
    responsible: Text | None = None
    """The person responsible for the release, by name or office."""
    acceptable_risk: PositiveShare | None = None
    """The largest acceptable risk of re-identification, between 0 and 1."""


class Source(OneOf):
    """The table to anonymize: exactly one of table, file, query."""

    ONE_OF = ("table", "file", "query")

    table: TableName | None = None
    """A table or view of the source database: table, schema.table or catalog.schema.table."""
    file: DataFile | None = None
    """A file; its suffix gives the format: .parquet, .csv, .tsv, .json, .jsonl, .xlsx, and .gz
    after those of text. Several files of one form by a pattern, as visits/*.parquet."""
    read: Reading | None = None
    """How a CSV file or a sheet is read; `anonymizer init` writes it."""
    query: Text | None = None
    """A SELECT over the source database."""

    @model_validator(mode="after")
    def _text(self) -> Source:
        if self.read is None:
            return self
        if self.format not in ("csv", "excel", "json"):
            raise fail("is for text files and sheets", at="read", hint="cast in source.query")
        of_lines = ("encoding", "delimiter", "skip", "skip_last")
        odd = self.read.model_fields_set.intersection(of_lines if self.format == "json" else ())
        if odd:
            raise fail("is for CSV files and sheets", at=f"read.{min(odd)}", hint="leave it out")
        if self.format != "excel" and self.read.sheet is not None:
            raise fail("is for Excel files", at="read.sheet", hint="leave it out")
        return self

    @property
    def kind(self) -> Literal["table", "file", "query"]:
        if self.table is not None:
            return "table"
        return "file" if self.file is not None else "query"

    @property
    def parts(self) -> tuple[str, ...]:
        """Unquoted parts of the table's name; empty for a file or query."""
        return table_parts(self.table) if self.table is not None else ()

    @property
    def format(self) -> str | None:
        """`parquet`, `csv`, `json` or `excel` for a file, else None."""
        return file_format(self.file) if self.file is not None else None

    @property
    def stem(self) -> str | None:
        """The name of the table or file without schema, folder and suffix; None for a query."""
        if self.file is not None:
            return file_stem(portable(self.file))
        return self.parts[-1] if self.parts else None


def without_default(schema: dict[str, Any]) -> None:
    """Leave the default out of a field's schema: it depends on the source."""
    del schema["default"]


Storage = Literal["v1.0.0", "v1.2.0", "v1.4.0", "v1.5.0", "latest"]
"""Formats of database files, by the DuckDB version that introduced them."""


UNENCRYPTED = ("v1.0.0", "v1.2.0")
"""Formats of files that are never encrypted."""


class Publish(Options):
    """The release: names, location and format."""

    name: Text = Field(default="", json_schema_extra=without_default)
    """Name of the published view; default: `<table>_anonymous` or `<table>_pseudonymised`, by the
    kind of release; required for a query."""
    schema_: Text = Field(default="main", alias="schema")
    """Schema of the published view."""
    database: Annotated[Text, FilePath()] | None = None
    """Database file of the release. Without it the release is beside the raw table, where in DuckDB
    a view protects nothing."""
    storage: Storage = "v1.4.0"
    """Oldest DuckDB that can open the file; those before v1.4.0 write slower."""
    encrypted: bool | None = None
    """Whether the file is encrypted, by the key in ANONYMIZER_DATABASE_KEY_FILE or
    ANONYMIZER_DATABASE_KEY. Default: as the file that it replaces, or the source."""
    cells: Literal["text", "typed"] = "text"
    """Generalized cells as text, or as typed bounds and lists."""
    bounds: Literal["tight", "grid"] = "tight"
    """Bounds of generalized cells that are values of the rows (tight), or that lie on a public grid
    (grid), so that they prove no record; categories are then one value, a node, or everything."""
    rename: FrozenMap[Text, Text] = FrozenMap()
    """New names for published columns; if a generated column and a source column have the same
    name, the generated one is renamed."""
    replace_source: bool = False
    """The source table itself is replaced by its release."""
    grant_select: Text | Annotated[tuple[Text, ...], AsTuple] | None = None
    """Postgres: the role, or roles, that may read the published view."""

    @property
    def grantees(self) -> tuple[str, ...]:
        """The roles that may read the published view."""
        if self.grant_select is None:
            return ()
        return (self.grant_select,) if isinstance(self.grant_select, str) else self.grant_select


def _queries(given: object) -> object:
    if isinstance(given, str):
        if PurePath(given).suffix.lower() != ".sql":
            raise fail("must be a .sql file or a list of queries", hint="sql: workload.sql")
        return given
    listed = tuple(given) if isinstance(given, list | tuple) else ()
    if not listed or not all(isinstance(one, str) and one.strip() for one in listed):
        raise fail("must be a .sql file or a list of queries", hint="sql: workload.sql")
    return listed


class Workload(Options):
    """The user's own aggregate queries, run on source and release to show the error."""

    sql: Annotated[LocalPath | tuple[str, ...], BeforeValidator(_queries)]
    """A .sql file, or a list of queries."""

    @property
    def file(self) -> str | None:
        return self.sql if isinstance(self.sql, str) else None

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries in the policy itself; empty if they are in a file."""
        return () if isinstance(self.sql, str) else self.sql


WAYS = ("m", "append_only", "follow")
"""The ways to continue earlier releases."""


def _not_both(schema: dict[str, Any]) -> None:
    ways = [{"required": [name]} for name in WAYS]
    alone = {"not": {"anyOf": ways}}
    schema["oneOf"] = [
        *ways,
        {"required": ["new_population"], **alone},
    ]


class Republish(Options):
    """Options by which later releases of the same persons keep the guarantees of earlier ones."""

    model_config = ConfigDict(json_schema_extra=_not_both)

    m: AtLeastTwo | None = None
    """m-invariance (Xiao and Tao 2007): every surviving person keeps a signature of m values."""
    append_only: bool | None = None
    """Keep old classes and place only new persons."""
    follow: bool | None = None
    """Release the same table again and again: classes stay, those who join make classes of their
    own, and whoever leaves takes the class along, so that the rules of columns hold as well."""
    wait: Positive | None = None
    """With follow: who joins is placed in every n-th release of the view, all together. Default:
    1."""
    new_population: bool | None = None
    """Release the view although fewer than half of the persons of its last release are recognized:
    the persons are others."""

    @property
    def continues(self) -> bool:
        """True if releases continue earlier ones."""
        return any(getattr(self, name) is not None for name in WAYS)

    @property
    def grows(self) -> bool:
        """True if classes stay, and only new persons are placed."""
        return self.append_only is not None or self.follow is not None

    @model_validator(mode="after")
    def _one(self) -> Self:
        for name in ("append_only", "follow", "new_population"):
            if getattr(self, name) is False:
                left = "leave republish out" if len(self.model_fields_set) == 1 else "leave it out"
                raise fail("can only be true", at=name, hint=left)
        allowed = ", ".join(WAYS)
        if sum(getattr(self, name) is not None for name in WAYS) > 1:
            raise fail(f"names more than one of {allowed}", allowed=f"at most one of {allowed}")
        if self.wait is not None and self.follow is None:
            raise fail("is for follow", at="wait", hint="follow: true, or leave it out")
        if not self.continues and self.new_population is None:
            said = f"names none of {allowed}, new_population"
            raise fail(said, allowed=f"one of {allowed}, or new_population, or both")
        return self
