"""The manifest of a release and its linked tables, parsed from untrusted JSON."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from anonymizer.independent.fetch import ChangedError, UnreadableError
from anonymizer.independent.layout import (
    Column,
    Layout,
    Requirement,
    flag,
    known,
    listed,
    mapping,
    name,
    parsed,
    read_column,
    read_layout,
    read_requirement,
    refuse_twice,
    text,
    whole,
)

# The section `tables` of a manifest: the tables of a release that are linked by keys.


ROLES = ("event", "sensitive", "keep")
MOST_EVENTS = 3


@dataclass(frozen=True, slots=True)
class Knows:
    """What an observer may know of a person besides the quasi-identifiers."""

    events: int
    rows: bool
    sensitive: bool


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """One published table. Names of columns are those in the release."""

    table: str
    """Its name in the policy."""
    name: str
    """Its name in the release."""
    key: str | None
    links: Mapping[str, str]
    """The table (by its name in the policy) whose key a column holds, by column."""
    columns: tuple[Column, ...]
    """The columns of a further table; those of the persons are in the layout."""
    requirements: tuple[Requirement, ...]
    """The requirements in the classes of the persons."""

    @property
    def events(self) -> bool:
        """Whether an observer may know rows of it."""
        return any(one.role == "event" for one in self.columns)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of random numbers."""
        return tuple(dict.fromkeys([*([self.key] if self.key else []), *self.links]))


@dataclass(frozen=True, slots=True)
class Linked:
    """All tables of a release, parents before the tables that are linked to them."""

    person: LinkedTable
    children: tuple[LinkedTable, ...]
    k: int
    knows: Knows


def read_linked(given: Any, cells: str) -> Linked:
    """Parse the tables. Raises UnreadableError for anything unknown."""
    where = "manifest.tables"
    data = known(given, where, {"person", "k", "knows", "tables"})
    knows = known(data.get("knows"), f"{where}.knows", {one.name for one in fields(Knows)})
    entries = listed(data.get("tables"), f"{where}.tables")
    tables = [_table(one, f"{where}.tables[{i}]", cells) for i, one in enumerate(entries)]
    for what in ("table", "name"):
        named = [getattr(one, what).lower() for one in tables]
        if len(set(named)) < len(named):
            raise UnreadableError(f"{where}.tables: a {what} stands twice")
    person, children = _in_order(tables, text(data.get("person"), f"{where}.person"))
    return Linked(
        person,
        children,
        whole(data.get("k"), f"{where}.k", 2, 10**18),
        Knows(
            whole(knows.get("events"), f"{where}.knows.events", 0, MOST_EVENTS),
            flag(knows.get("rows"), f"{where}.knows.rows"),
            flag(knows.get("sensitive"), f"{where}.knows.sensitive"),
        ),
    )


def _table(given: Any, where: str, cells: str) -> LinkedTable:
    data = known(given, where, {one.name for one in fields(LinkedTable)})
    links = mapping(data.get("links"), f"{where}.links")
    columns = listed(data.get("columns"), f"{where}.columns")
    requirements = listed(data.get("requirements"), f"{where}.requirements")
    table = LinkedTable(
        text(data.get("table"), f"{where}.table"),
        text(data.get("name"), f"{where}.name"),
        name(data.get("key"), f"{where}.key"),
        {text(key, f"{where}.links"): text(to, f"{where}.links") for key, to in links.items()},
        tuple(
            read_column(one, f"{where}.columns[{i}]", cells, ROLES) for i, one in enumerate(columns)
        ),
        tuple(
            read_requirement(one, f"{where}.requirements[{i}]")
            for i, one in enumerate(requirements)
        ),
    )
    refuse_twice(table.columns, f"{where}.columns")
    if any(one.bucket for one in table.columns):
        raise UnreadableError(f"{where}.columns: has buckets")
    if any(one.scope != "class" for one in table.requirements):
        raise UnreadableError(f"{where}.requirements: is not judged class by class")
    if links and any(one.column is None for one in table.requirements):
        raise UnreadableError(f"{where}.requirements: is on no column")
    return table


def _in_order(
    tables: list[LinkedTable], person: str
) -> tuple[LinkedTable, tuple[LinkedTable, ...]]:
    """The persons' table, and the others, each after the one that it is linked to."""
    where = "manifest.tables"
    first = next((one for one in tables if one.table == person), None)
    if first is None or first.key is None or first.links or first.columns:
        raise UnreadableError(f"{where}.person: names no table of persons")
    placed, left = {first.table: first}, [one for one in tables if one is not first]
    for one in left:
        if len(one.links) != 1:
            raise UnreadableError(f"{where}.tables: a table has {len(one.links)} links, and not 1")
    while left:
        ready = [one for one in left if set(one.links.values()) <= set(placed)]
        if not ready:
            raise UnreadableError(f"{where}.tables: a link leads to no table, or in a circle")
        for one in ready:
            if any(placed[to].key is None for to in one.links.values()):
                raise UnreadableError(f"{where}.tables: a link leads to a table without a key")
            placed[one.table] = one
        left = [one for one in left if one.table not in placed]
    return first, tuple(one for one in placed.values() if one is not first)


# The manifest of a release, parsed from untrusted JSON.
#
# The types of all fields that are used later are checked here, once.


FORMAT = 2
ANONYMISED, PSEUDONYMISED = "anonymised", "pseudonymised"
CLASSLESS = "none"
"""The algorithm whose releases have no classes, no groups and no guarantees."""
_RUN_ID = re.compile(r"[0-9a-f]{1,64}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parsed content of a manifest."""

    view: str
    run_id: str
    layout: Layout
    requirements: tuple[Requirement, ...]
    linked: Linked | None = None
    """The tables of a release of several tables; `layout` is that of the persons then."""
    alone: bool = True
    """Whether the file may contain only releases."""
    kind: str = ANONYMISED
    files: Mapping[str, str] = field(default_factory=dict)
    """For an export: its files, with the SHA-256 of each."""

    @property
    def classless(self) -> bool:
        """Whether it declares that it has no classes and is personal data."""
        return self.layout.algorithm == CLASSLESS


def read_manifest(given: str) -> Manifest:
    """Parse a manifest from JSON. Raises UnreadableError."""
    top = mapping(parsed(given), "manifest")
    if top.get("format") != FORMAT:
        raise UnreadableError(f"manifest.format: is not {FORMAT}")
    run_id = text(top.get("run_id"), "manifest.run_id")
    if not _RUN_ID.fullmatch(run_id):
        raise UnreadableError("manifest.run_id: is not hexadecimal")
    asked = listed(top.get("requirements"), "manifest.requirements")
    seal = top.get("seal")
    manifest = Manifest(
        text(top.get("view"), "manifest.view"),
        run_id,
        read_layout(top.get("layout")),
        tuple(read_requirement(one, f"manifest.requirements[{i}]") for i, one in enumerate(asked)),
        alone=not (isinstance(seal, dict) and seal.get("alone") is False),
        kind=_kind(top.get("kind", ANONYMISED)),
        files=_files(top.get("export", {"files": []})),
    )
    if manifest.classless:
        _refuse_promising(manifest, top)
    if "tables" not in top:
        return manifest
    return _of_persons(manifest, read_linked(top["tables"], manifest.layout.cells))


def refuse_changed(given: str) -> None:
    """Raises ChangedError for the JSON of a manifest without the digest of its content as its seal.

    It is the SHA-256 of that JSON without white space and with sorted keys, but for the digest, and
    for the files of an export. Who changes a manifest can make it anew: it shows no publisher.
    """
    data = mapping(json.loads(given), "manifest")
    seal = mapping(data.get("seal"), "manifest.seal")
    stated = seal.pop("digest", None)
    data.pop("export", None)
    content = json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
    if stated != hashlib.sha256(content).hexdigest():
        raise ChangedError("manifest: its digest is not that of its content: a field changed")


def _kind(given: object) -> str:
    if given not in (ANONYMISED, PSEUDONYMISED):
        raise UnreadableError("manifest.kind: is none that this reader knows")
    return str(given)


def _files(given: object) -> dict[str, str]:
    where = "manifest.export.files"
    found: dict[str, str] = {}
    for one in listed(mapping(given, "manifest.export").get("files"), where):
        entry = mapping(one, where)
        name = text(entry.get("name"), where)
        if name in found:
            raise UnreadableError(f"{where}: names a file twice")
        found[name] = text(entry.get("sha256"), where)
    return found


def _refuse_promising(manifest: Manifest, top: dict[str, Any]) -> None:
    """Raise UnreadableError if a release without classes declares anything that needs them."""
    layout = manifest.layout
    if manifest.kind != PSEUDONYMISED:
        raise UnreadableError("manifest.kind: is not that of a release without classes")
    if manifest.requirements:
        raise UnreadableError("manifest.requirements: cannot hold without classes")
    if layout.class_id or layout.group_id or layout.quasi or "tables" in top:
        raise UnreadableError("manifest.layout: has more than a release without classes")
    if any(one.bucket for one in layout.columns):
        raise UnreadableError("manifest.layout: has buckets")


def _of_persons(manifest: Manifest, linked: Linked) -> Manifest:
    """The manifest for several tables: every row of its view is a person, identified by the key."""
    layout, person = manifest.layout, linked.person
    if not manifest.view.endswith(f".{person.name}"):
        raise UnreadableError("manifest.tables.person: is not the table of the view")
    if layout.class_id is None or layout.group_id is not None or layout.tables:
        raise UnreadableError("manifest.layout: is not that of persons in classes")
    if any(one.role == "semi" or one.bucket for one in layout.columns):
        raise UnreadableError("manifest.layout: has buckets")
    if layout.person_id not in (None, person.key):
        raise UnreadableError("manifest.layout.person_id: is not the key of the persons")
    promised = [
        one.parameters.get("k") for one in manifest.requirements if one.name == "k_anonymity"
    ]
    if promised != [linked.k]:
        raise UnreadableError("manifest.tables.k: is not the k of k_anonymity")
    return replace(manifest, linked=linked, layout=replace(layout, person_id=person.key))
