"""The manifest of a release, parsed from untrusted JSON.

The types of all fields that are used later are checked here, once.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anonymizer.independent.errors import ChangedError, UnreadableError
from anonymizer.independent.fields import listed, mapping, parsed, text
from anonymizer.independent.layout import Layout, Requirement, read_layout, read_requirement
from anonymizer.independent.linked import Linked, read_linked

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
