"""The seal of a release: its objects, the digests of its rows, and the manifest's own digest.

Changes can be detected with the policy, or with a signature over the digest. The digest alone
shows that a release agrees with its manifest, but not who made them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from anonymizer.compile import Table, ident
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy.paths import name_text
from anonymizer.release.manifest import Manifest
from anonymizer.release.names import Names
from anonymizer.release.rows_digest import RowsDigest

VERSION = 1
CHANGED = "it was changed after it was published: run again"
Columns: TypeAlias = tuple[tuple[str, str], ...]
"""Name and type of every column, in order."""
Sign: TypeAlias = Callable[[str], str]
"""Signs a manifest's digest."""


@dataclass(frozen=True, slots=True)
class SealedObject:
    """One table or view of a release."""

    schema: str
    name: str
    kind: str
    """view, rows, values or manifest; a `view` without definition is a table (replace_source)."""
    columns: Columns
    definition: str | None = None
    """The query of a view."""
    rows: RowsDigest | None = None
    """The digest of a published table, or of the one behind the view."""

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"schema": self.schema, "name": self.name, "kind": self.kind}
        found["columns"] = [list(column) for column in self.columns]
        if self.definition is not None:
            found["definition"] = self.definition
        if self.rows is not None:
            found["rows"] = self.rows.as_dict()
        return found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SealedObject:
        columns = tuple((str(name), str(kind)) for name, kind in data["columns"])
        rows = RowsDigest.of(data["rows"]) if "rows" in data else None
        definition = str(data["definition"]) if "definition" in data else None
        return cls(
            str(data["schema"]), str(data["name"]), str(data["kind"]), columns, definition, rows
        )


@dataclass(frozen=True, slots=True)
class Seal:
    """The part of a manifest that describes its release's objects."""

    objects: tuple[SealedObject, ...]
    alone: bool
    """Whether the release is in a separate file, which holds nothing else."""
    digest: str


def sealed(
    manifest: Manifest, objects: Iterable[SealedObject], *, alone: bool, sign: Sign | None = None
) -> Manifest:
    """The manifest with its seal, signed if there is a key."""
    data = json.loads(manifest.text())
    listed = [item.as_dict() for item in objects]
    data["seal"] = {"version": VERSION, "alone": alone, "objects": listed}
    digest = manifest_digest(data)
    data["seal"]["digest"] = digest
    return Manifest(data, sign(digest) if sign is not None else None)


def manifest_digest(data: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of a manifest without its digest, as JSON without white space, keys sorted.

    An export adds its files to the manifest without changing the digest.
    """
    data = {name: value for name, value in data.items() if name != "export"}
    seal = {name: value for name, value in data["seal"].items() if name != "digest"}
    text = json.dumps({**data, "seal": seal}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def seal_of(manifest: Manifest) -> Seal:
    """The seal. Raises GuaranteeError if a manifest has no valid one."""
    try:
        found = manifest.data["seal"]
        if found["version"] != VERSION:
            raise ValueError
        objects = tuple(SealedObject.from_dict(item) for item in found["objects"])
        seal = Seal(objects, found["alone"] is True, str(found["digest"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        lacking = True
    else:
        lacking = False
    if lacking:
        raise GuaranteeError.at(
            "manifest",
            "has no seal that can be read, so that nobody can tell what was judged",
            hint="it was changed, or made by another version: run again",
        )
    return seal


def manifest_problems(view: Table, manifest: Manifest) -> Iterator[Problem]:
    """The signs that a manifest is not the one sealed for the release of this view."""
    if manifest.found is not None and manifest.found.rstrip("\n") != manifest.text():
        yield Problem("manifest", "is not written as this tool writes it", hint=CHANGED)
    if seal_of(manifest).digest != manifest_digest(manifest.data):
        said = "its digest is not that of its content: a field changed"
        yield Problem("manifest", said, hint=CHANGED)
    if manifest.data.get("view") != f"{view.schema}.{view.name}":
        yield Problem("manifest.view", "names another release", hint=CHANGED)


def of_another(manifest: Manifest, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems of another release in the same file, marked as such."""
    shown = name_text(str(manifest.data.get("view")).removeprefix("main."))
    where = f"of {shown}, which is in the same file"
    return tuple(replace(one, message=f"{where}: {one.message}") for one in problems)


def projection(columns: Iterable[str], rows: Table) -> str:
    """The query of a published view: the frozen rows' columns in order."""
    return f"select {', '.join(ident(name).text for name in columns)} from {ident(rows)}"


def manifest_columns(*, signed: bool) -> Columns:
    """The columns of a manifest table."""
    names = ("manifest", "signature") if signed else ("manifest",)
    return tuple((name, "VARCHAR") for name in names)


def manifest_object(
    names: Names, manifest: Manifest | None, *, signed: bool = False
) -> SealedObject:
    """The table of an existing or planned manifest."""
    signed = signed or (manifest is not None and manifest.signature is not None)
    table = names.manifest(None)
    return SealedObject(names.schema, table.name, "manifest", manifest_columns(signed=signed))


def object_problems(seal: Seal, found: Iterable[SealedObject]) -> Iterator[Problem]:
    """The differences between the sealed objects and those found."""
    now = {(item.schema, item.name): item for item in found}
    then = {(item.schema, item.name): item for item in seal.objects}
    for place in sorted(now.keys() | then.keys()):
        shown = name_text(place[1])
        sealed_one, one = then.get(place), now.get(place)
        if one is None:
            yield Problem("release", f"lacks {shown}", hint=CHANGED)
        elif sealed_one is None:
            yield Problem("release", f"holds {shown}, which no manifest lists", hint=CHANGED)
        elif replace(one, rows=None) != replace(sealed_one, rows=None):
            yield Problem("release", f"{shown} is not defined as it was published", hint=CHANGED)
        elif one.rows is not None:
            yield from rows_problem(sealed_one, one.rows)


def rows_problem(item: SealedObject, found: RowsDigest) -> Iterator[Problem]:
    """The problem of rows that differ from the sealed ones, if they do."""
    if item.rows == found:
        return
    shown = name_text(item.name)
    said = f"the rows of {shown} are not those that were judged: values or their order changed"
    if item.rows is None or item.rows.definition != found.definition:
        said = f"the rows of {shown} are sealed in a way that this version does not know"
    elif item.rows.rows != found.rows:
        said = (
            f"the rows of {shown} are not those that were judged: there are {found.rows},"
            f" and {item.rows.rows} were"
        )
    yield Problem("release", said, hint=CHANGED)
