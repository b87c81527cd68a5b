"""The manifest of a release and its linked tables, read from untrusted JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictInt, TypeAdapter, with_config

from anonymizer.independent.fetch import ChangedError
from anonymizer.independent.layout import (
    FORBID,
    Column,
    Layout,
    Name,
    Requirement,
    Text,
    consistent,
    only,
    parse_json,
    refuse_odd,
    unlike,
    validate,
)

# The section `tables` of a manifest: the tables of a release that are linked by keys.


@with_config(FORBID)
@dataclass(frozen=True, slots=True)
class Knows:
    """An observer's knowledge of a person besides the quasi-identifiers."""

    events: Annotated[StrictInt, Field(ge=0, le=3)]
    rows: StrictBool
    sensitive: StrictBool
    joined: StrictBool = False
    """True if rows are known with those above them, and with which of these they share."""


@with_config(FORBID)
@dataclass(frozen=True, slots=True)
class LinkedTable:
    """One published table. Names of columns are those in the release."""

    table: Text
    """Its name in the policy."""
    name: Text
    """Its name in the release."""
    key: Name
    links: Mapping[Text, Text]
    """The table (by its name in the policy) whose key a column holds, by column."""
    columns: tuple[Column, ...]
    """The columns of a further table; those of the persons are in the layout."""
    requirements: tuple[Requirement, ...]
    """The requirements in the classes of the persons."""

    @property
    def events(self) -> bool:
        """True if an observer may know rows of it."""
        return any(one.role == "event" for one in self.columns)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of random numbers."""
        return tuple(dict.fromkeys([*([self.key] if self.key else []), *self.links]))


@with_config(FORBID)
@dataclass(frozen=True, slots=True)
class LinkedTables:
    """All tables of a release, parents before the tables that are linked to them."""

    root: Annotated[Text, Field(alias="person")]
    """The name of the table of the persons in the policy."""
    k: Annotated[StrictInt, Field(ge=2, le=10**18)]
    knows: Knows
    tables: tuple[LinkedTable, ...]

    @property
    def person(self) -> LinkedTable:
        """The table of the persons."""
        return self.tables[0]

    @property
    def children(self) -> tuple[LinkedTable, ...]:
        """The other tables."""
        return self.tables[1:]


def _in_order(linked: LinkedTables) -> LinkedTables:
    """The tables, each after the one that it is linked to. Raises ValueError if there is no such
    order, or a table contradicts itself.
    """
    unlike([one.table.lower() for one in linked.tables], "a table stands twice")
    unlike([one.name.lower() for one in linked.tables], "a name stands twice")
    for table in linked.tables:
        if any(one.bucket for one in table.columns):
            raise ValueError("a table has buckets")
        if any(one.scope != "class" for one in table.requirements):
            raise ValueError("a requirement is not judged class by class")
        if table.links and any(one.column is None for one in table.requirements):
            raise ValueError("a requirement is on no column")
    first = next((one for one in linked.tables if one.table == linked.root), None)
    if first is None or first.key is None or first.links or first.columns:
        raise ValueError("person: names no table of persons")
    placed, left = {first.table: first}, [one for one in linked.tables if one is not first]
    if any(len(one.links) != 1 for one in left):
        raise ValueError("a table has not one link")
    while left:
        ready = [one for one in left if set(one.links.values()) <= set(placed)]
        if not ready:
            raise ValueError("a link leads to no table, or in a circle")
        for one in ready:
            if any(placed[to].key is None for to in one.links.values()):
                raise ValueError("a link leads to a table without a key")
            placed[one.table] = one
        left = [one for one in left if one.table not in placed]
    return replace(linked, tables=tuple(placed.values()))


# The manifest of a release.


ANONYMISED, PSEUDONYMISED = "anonymised", "pseudonymised"
CLASSLESS = "none"
"""The algorithm whose releases have no classes, no groups and no guarantees."""


@dataclass(frozen=True, slots=True)
class _File:
    name: Text
    sha256: Text


@dataclass(frozen=True, slots=True)
class _Export:
    files: tuple[_File, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a manifest that matters here; the seal covers the rest."""

    format: Annotated[StrictInt, only(lambda one: one == 2, "is not 2")]
    view: Text
    run_id: Annotated[str, Field(pattern="^[0-9a-f]{1,64}$")]
    layout: Annotated[Layout, AfterValidator(consistent)]
    requirements: tuple[Requirement, ...]
    linked: Annotated[
        Annotated[LinkedTables, AfterValidator(_in_order)] | None,
        Field(alias="tables"),
        only(lambda given: given, "is null"),
    ] = None
    """The tables of a release of several tables; `layout` is that of the persons then."""
    seal: Any = None
    kind: Literal["anonymised", "pseudonymised"] = "anonymised"
    export: _Export = field(default_factory=_Export)

    @property
    def only_releases(self) -> bool:
        """True if the file may contain only releases."""
        return not (isinstance(self.seal, dict) and self.seal.get("alone") is False)

    @property
    def files(self) -> Mapping[str, str]:
        """For an export: its files, with the SHA-256 of each."""
        return {one.name: one.sha256 for one in self.export.files}

    @property
    def classless(self) -> bool:
        """True if it declares that it has no classes and is personal data."""
        return self.layout.algorithm == CLASSLESS


def read_manifest(given: str) -> Manifest:
    """Parse a manifest from JSON. Raises UnreadableError."""
    return validate(_MANIFEST, parse_json(given))


def _consistent(manifest: Manifest) -> Manifest:
    """The manifest. Raises ValueError if its parts contradict each other."""
    unlike([one.name for one in manifest.export.files], "export.files: names a file twice")
    if manifest.classless:
        _refuse_promising(manifest)
    return manifest if manifest.linked is None else _of_persons(manifest, manifest.linked)


def _refuse_promising(manifest: Manifest) -> None:
    """Raise ValueError if a release without classes declares anything that needs them."""
    layout = manifest.layout
    if manifest.kind != PSEUDONYMISED:
        raise ValueError("kind: is not that of a release without classes")
    if manifest.requirements:
        raise ValueError("requirements: cannot hold without classes")
    if layout.class_id or layout.group_id or layout.quasi or manifest.linked:
        raise ValueError("layout: has more than a release without classes")
    if any(one.bucket for one in layout.columns):
        raise ValueError("layout: has buckets")


def _of_persons(manifest: Manifest, linked: LinkedTables) -> Manifest:
    """The manifest for several tables: every row of its view is a person, identified by the key."""
    layout, person = manifest.layout, linked.person
    if not manifest.view.endswith(f".{person.name}"):
        raise ValueError("tables.person: is not the table of the view")
    if layout.class_id is None or layout.group_id is not None or layout.tables:
        raise ValueError("layout: is not that of persons in classes")
    if any(one.role == "semi" or one.bucket for one in layout.columns):
        raise ValueError("layout: has buckets")
    for one in linked.tables:
        refuse_odd(one.columns, layout.cells, "event", "sensitive", "keep")
    if layout.person_id not in (None, person.key):
        raise ValueError("layout.person_id: is not the key of the persons")
    promised = [
        one.parameters.get("k") for one in manifest.requirements if one.name == "k_anonymity"
    ]
    if promised != [linked.k]:
        raise ValueError("tables.k: is not the k of k_anonymity")
    return replace(manifest, layout=replace(layout, person_id=person.key))


_MANIFEST = TypeAdapter(Annotated[Manifest, AfterValidator(_consistent)])


def refuse_changed(given: str) -> None:
    """Raises ChangedError for the JSON of a manifest without the digest of its content as its seal.

    It is the SHA-256 of that JSON without white space and with sorted keys, but for the digest, and
    for the files of an export. Who changes a manifest can make it anew: it shows no publisher.
    """
    data = json.loads(given)
    seal = data.get("seal")
    stated = seal.pop("digest", None) if isinstance(seal, dict) else None
    data.pop("export", None)
    content = json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
    if stated != hashlib.sha256(content).hexdigest():
        raise ChangedError("manifest: its digest is not that of its content: a field changed")
