"""The release of several tables: the names of its views, its place, its form."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from anonymizer.policy.frozen import FrozenMap, Refused, fail
from anonymizer.policy.publish import Publish
from anonymizer.policy.schema.table import SINGLE
from anonymizer.policy.values import Text

NAME = Refused("names one view, and every table has one", "names: {visits: encounters}")
RENAME = Refused(SINGLE, "rename the column in a query as source")
BESIDE = Refused(SINGLE, "publish: {database: release.duckdb}")
GRANT = Refused(f"{SINGLE}: it is a Postgres grant, and duckdb anonymizes them", "leave it out")


def _prefix(given: str) -> str:
    if "\0" in given or given != given.strip():
        raise fail("must be the beginning of a name", hint="prefix: anonymous_")
    return given


class SchemaPublish(Publish):
    """The release: names of its views, location and format."""

    prefix: Annotated[str, AfterValidator(_prefix)] = ""
    """Prefix of the name of every view."""
    names: FrozenMap[Text, Text] = FrozenMap()
    """Table to the name of its view; default: the name of the table."""
    name: Annotated[Text, NAME] = Field("", exclude=True)
    rename: Annotated[FrozenMap[Text, Text], RENAME] = Field(FrozenMap(), exclude=True)
    replace_source: Annotated[bool, BESIDE] = Field(False, exclude=True)
    grant_select: Annotated[Text | tuple[Text, ...] | None, GRANT] = None

    def view(self, table: str) -> str:
        """The name of the view of a table."""
        return self.prefix + self.names.get(table, table)
