"""The manifest: guarantees required and achieved, and the SQL that checks them. No values."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from anonymizer.compile import Table, ident, lit
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.contract.reading import Tables, in_release, parse_manifest
from anonymizer.contract.rounding import of_population
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import is_database
from anonymizer.errors import NothingToCheckError, Problem
from anonymizer.guarantees.requirements import GUARANTEES
from anonymizer.policy import AnyPolicy, Policy, safe_harbor
from anonymizer.policy.aggregate import WITNESS
from anonymizer.policy.hierarchies import levels_given
from anonymizer.policy.kinds import ANONYMISED, PSEUDONYMISED, ReleaseKind
from anonymizer.process.files import read_beside
from anonymizer.release import objects
from anonymizer.release.certificate import certificate, counts_certificate, known_attacks
from anonymizer.release.objects import Names, Runs, object_entries
from anonymizer.verification.across_tables import tables_sql
from anonymizer.verification.release import check_sql

FORMAT = 2
"""Version 1 had no seal."""
NOT_IN_FILES = re.compile(r'[\x00-\x1f\x7f/\\%:*?"<>|]')
"""Characters that a file name cannot hold, or that would lead into another folder."""
OF_POPULATION = frozenset(one.name for one in GUARANTEES if one.of_population)
LEVEL = "level."
CHANGED = "it was changed after it was published: run again"
LONGEST_STEM = 200
"""Bytes kept of a name; file systems allow 255 including the suffix."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a manifest, as JSON."""

    data: Mapping[str, Any]
    signature: str | None = None
    """A base64 signature over its digest, if the release was signed."""
    found: str | None = field(default=None, compare=False)
    """The text from which it was read."""

    @property
    def run_id(self) -> str:
        return str(self.data["run_id"])

    @property
    def kind(self) -> ReleaseKind:
        """The kind of release; older manifests without a kind are of anonymised ones."""
        stated = self.data.get("kind", ANONYMISED)
        return ANONYMISED if stated == ANONYMISED else PSEUDONYMISED

    @property
    def layout(self) -> Layout:
        layout = Layout.from_dict(self.data["layout"])
        if "tables" not in self.data:
            return layout
        return replace(layout, key=str(self.data["tables"]["tables"][0]["key"]))

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        return tuple(Requirement(**item) for item in self.data["requirements"])

    def text(self) -> str:
        return json.dumps(self.data, indent=2, sort_keys=True, allow_nan=False, default=str)


def shown_measures(measures: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    """Measures for display: `persons` counts rows if persons cannot be told apart.

    Measures of further tables are shown separately: `Release.measured`.
    """
    told = layout.person_id is not None
    left_out = {"tables"} if told else {"tables", "persons"}
    return {name: value for name, value in measures.items() if name not in left_out}


def published_measures(measures: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """The measures without levels of trees whose height may depend on hidden values."""
    untold = {
        LEVEL + name
        for name, column in policy.columns.items()
        if column.hierarchy is not None and not levels_given(column.hierarchy)
    }
    return {name: value for name, value in measures.items() if name not in untold}


def make_manifest(
    *,
    policy: AnyPolicy,
    names: Names,
    layout: Layout,
    requirements: Sequence[Requirement],
    verification: Verification,
    measures: Mapping[str, Any],
    versions: Mapping[str, str],
    reproducible: bool,
    files: Mapping[str, str],
    tables: Tables | None,
) -> Manifest:
    """The manifest of a release: what was required and achieved, and how to check it."""
    stated = safe_harbor.stated(policy) if safe_harbor.applies(policy) else None
    made = Manifest(
        {
            "format": FORMAT,
            "run_id": names.run_id,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "kind": policy.release_kind,
            "view": names.release,
            "policy_digest": policy.digest(),
            "algorithm": layout.algorithm,
            "versions": dict(versions),
            "reproducible": reproducible,
            "requirements": [asdict(item) for item in requirements],
            "verification": finite(_checks(verification, names, layout, requirements, tables)),
            "measures": finite(measures),
            "layout": layout.as_dict(),
            "known_attacks": known_attacks(policy),
            **({"safe_harbor": stated} if stated is not None else {}),
            **({"tables": tables.as_dict()} if tables is not None else {}),
            **({"files": dict(files)} if files else {}),
        }
    )
    return Manifest({**made.data, "certificate": stated_certificate(made)})


def stated_certificate(manifest: Manifest) -> str:
    """The certificate that belongs to a manifest."""
    counts = manifest.layout.counts
    if counts is not None:
        return counts_certificate(
            counts,
            manifest.requirements,
            left_out=manifest.data["measures"]["suppressed"],
            witnesses=manifest.layout.tables.get(WITNESS),
        )
    return certificate(
        manifest.kind,
        guaranteed=bool(manifest.requirements),
        persons=manifest.layout.of_persons,
        safe_harbor="safe_harbor" in manifest.data,
        several="tables" in manifest.data,
        measures=manifest.data["measures"],
    )


def _checks(
    verification: Verification,
    names: Names,
    layout: Layout,
    requirements: Sequence[Requirement],
    tables: Tables | None,
) -> dict[str, Any]:
    """The checks that were made, with the SQL by which a recipient can repeat them.

    Checks against the source come last, without SQL: they read tables that were dropped with the
    run.
    """
    found = verification.as_dict()
    # from what a reader of the manifest has: its objects are ordered by their keys
    told = Layout.from_dict(_as_read(layout.as_dict()))
    asked = [Requirement(**_as_read(asdict(item))) for item in requirements]
    shown = [check["sql"] for check in check_sql(names.view(None), told, asked)]
    if tables is not None:
        shown += [one["sql"] for one in tables_sql(tables, in_release(names.view(None)))]
    shown += [None] * (len(found["checks"]) - len(shown))
    for check, text in zip(found["checks"], shown, strict=True):
        check["sql"] = text
        if check["name"] in OF_POPULATION:
            check["achieved"] = of_population(check["required"], check["achieved"])
    return found


def _as_read(value: Any) -> Any:
    """The value after a round trip through JSON."""
    return json.loads(json.dumps(value, sort_keys=True, default=str))


def finite(value: Any) -> Any:
    """JSON has no infinities: a figure that is one is written as text."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


def write_manifest(runs: Runs, names: Names, catalog: str, manifest: Manifest) -> None:
    """Write the manifest table: one row, with JSON in the column `manifest`."""
    table = ident(names.manifest(catalog))
    values = f"{lit(manifest.text())} as manifest"
    if manifest.signature is not None:
        values = f"{values}, {lit(manifest.signature)} as signature"
    runs.raw(f"create or replace table {table} as select {values}", "manifest")


def read_manifest(runs: Runs, view: Table) -> Manifest:
    """Read a manifest. Raises NothingToCheckError if the release has no readable one."""
    table = Table(f"{view.name}_manifest", view.schema, view.catalog)
    exists = runs.raw(
        "select count(*) from duckdb_tables() where"
        f" table_name = {lit(table.name)} and schema_name = {lit(table.schema)}"
        + (f" and database_name = {lit(table.catalog)}" if table.catalog else ""),
        "manifest",
    )
    if not exists[0][0]:
        _refuse_another_name(runs, view)
        raise no_manifest(view)
    described = runs.raw(f"describe {ident(table)}", "manifest")
    signed = "signature" in {str(row[0]) for row in described}
    signature = "signature" if signed else "null"
    rows = runs.raw(f"select manifest, {signature} from {ident(table)}", "manifest")
    if len(rows) != 1:
        raise several_manifests()
    return parsed(rows[0][0], rows[0][1])


def several_manifests() -> NothingToCheckError:
    """The error of a table that should hold one manifest, and has other rows."""
    return NothingToCheckError.at("manifest", "is not one row", hint=CHANGED)


def no_manifest(view: Table | None = None) -> NothingToCheckError:
    """The error if a place has no release of this name."""
    hint = "name the database of the release, not its source; was the release made by this tool?"
    if view is not None:
        name = f"{view.schema}.{view.name}".removeprefix("main.")
        hint += f" If somebody dropped {name} in part: anonymizer clean --drop {name}"
    return NothingToCheckError.at("manifest", "is missing", hint=hint)


def parsed(text: Any, signature: Any = None) -> Manifest:
    """Parse a manifest. Raises NothingToCheckError for any other text."""
    try:
        if not isinstance(text, str):
            raise TypeError
        signed = str(signature) if signature is not None else None
        manifest = Manifest(json.loads(text, parse_int=_whole), signed, text)
        parse_manifest(manifest.text())
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        unreadable = True
    else:
        unreadable = False
    if unreadable:
        raise NothingToCheckError.at(
            "manifest", "cannot be read", hint="it was changed after it was published"
        )
    if manifest.data.get("format") != FORMAT:
        said = f"is not {FORMAT}, the only one that this version knows"
        raise NothingToCheckError.at("manifest.format", said, hint="use the version that made it")
    return manifest


def _whole(text: str) -> int:
    """Parse a whole number. Raises ArithmeticError if it is larger than any double."""
    found = int(text)
    float(found)
    return found


def _refuse_another_name(runs: Runs, view: Table) -> None:
    """Raise NothingToCheckError if there are releases of this tool under other names."""
    if view.catalog is None:
        return
    name = f"{view.schema}.{view.name}"
    held = sorted({item.release for item in object_entries(runs, view.catalog)})
    if not held or name in held:
        return
    files = runs.raw(
        f"select path from duckdb_databases() where database_name = {lit(view.catalog)}", "manifest"
    )
    place = Path(files[0][0]).name if files and files[0][0] else "the database"
    listed = ", ".join(one.removeprefix("main.") for one in held)
    said = f"{name.removeprefix('main.')} is not in {place} (it holds {listed})"
    raise NothingToCheckError.at("publish.name", said, hint="run, or name that release")


def manifest_file(database: Path, names: Names, *, own: bool = False) -> Path:
    """The JSON file next to a release's database; `own`: with the database's name in its own.

    Characters that file names may not contain are percent-encoded; a long name is truncated.
    """
    stem = names.name if names.schema == "main" else names.release
    if own:
        stem = f"{database.name}.{stem}"
    encoded = NOT_IN_FILES.sub(lambda found: quote(found[0], safe=""), stem)
    if len(encoded.encode()) > LONGEST_STEM:
        digest = hashlib.sha256(encoded.encode()).hexdigest()[:16]
        encoded = f"{encoded.encode()[:LONGEST_STEM].decode(errors='ignore')}-{digest}"
    return database.parent / f"{encoded}.manifest.json"


def write_manifest_file(path: Path, manifest: Manifest, aside: Path) -> None:
    """Write the JSON file atomically; `aside` is a temporary name that clean-up recognizes.

    A signature is written to a separate file next to it.
    """
    aside.write_text(manifest.text() + "\n", encoding="utf-8")
    aside.replace(path)
    beside = signature_file(path)
    if manifest.signature is None:
        beside.unlink(missing_ok=True)
        return
    aside.write_text(manifest.signature + "\n", encoding="utf-8")
    aside.replace(beside)


def signature_file(manifest: Path) -> Path:
    """The path of the signature of a manifest's JSON file."""
    return manifest.with_name(manifest.name.removesuffix(".json") + ".sig")


# The JSON files next to a database of releases. The manifest in the database is authoritative.


OTHER = (
    "the manifest in the database counts: delete the file, run again, or move the database into a"
    " folder of its own if the file is of another one"
)


def file_of(database: Path, names: Names, held: Iterable[objects.ObjectEntry]) -> Path:
    """The path of the JSON file of a release in `database`.

    Two databases in one folder may have releases of the same name. The first has
    `<name>.manifest.json`; the file of the other begins with the name of its database, so that they
    do not overwrite each other. `held`: objects of the tool in this database.
    """
    own, plain = manifest_file(database, names, own=True), manifest_file(database, names)
    if own.exists():
        return own
    run_id = _run_of(plain)
    if run_id is None or run_id in {names.run_id, *(item.run_id for item in held)}:
        return plain
    return own if _is_of_neighbour(database, names.release, run_id) else plain


def _is_of_neighbour(database: Path, release: str, run_id: str) -> bool:
    """True if another database of the folder holds this run; locked databases are skipped."""
    others = [file for file in sorted(database.parent.iterdir()) if file.name != database.name]
    held = (objects.entries_in_file(file) or () for file in others if is_database(file))
    return any((one.release, one.run_id) == (release, run_id) for items in held for one in items)


def refresh(engine: DuckDBEngine, catalog: str, database: Path) -> list[Path]:
    """Write the files that are missing or belong to another run than the release; return them.

    A run that is killed between its swap and the writing of its file leaves such a file.
    """
    written = []
    held = objects.object_entries(engine, catalog)
    for item in held:
        if item.kind != "view":
            continue
        try:
            manifest = read_manifest(engine, item.table(catalog))
        except NothingToCheckError:
            continue
        file = file_of(database, Names(item.schema, item.name, item.run_id), held)
        if _run_of(file) != manifest.run_id:
            aside = database.with_name(f"{database.name}.{secrets.token_hex(8)}.tmp")
            write_manifest_file(file, manifest, aside)
            written.append(file)
    return written


def changes_beside(database: Path, view: Table, manifest: Manifest) -> Iterator[Problem]:
    """Copies of a manifest and of its signature, next to the database, that differ from it."""
    names = Names(view.schema or "main", view.name, manifest.run_id)
    own = manifest_file(database, names, own=True)
    file = own if own.exists() else manifest_file(database, names)
    signed = manifest.signature
    for path, text in ((file, manifest.text()), (signature_file(file), signed)):
        try:
            found = read_beside(path)
        except FileNotFoundError:
            continue  # a recipient of the database alone has no copies
        except (OSError, ValueError):
            found = ""
        if text is None or found != f"{text}\n":
            said = f"{path.name} beside it is not that of the release"
            yield Problem("manifest", said, hint=OTHER)


def other_file(
    database: Path, names: Names, held: Iterable[objects.ObjectEntry] = ()
) -> tuple[str, ...]:
    """A warning if the JSON file of another release is overwritten.

    `held`: objects of the tool in this database. The database of the other one is gone or locked.
    """
    held = tuple(held)
    file = file_of(database, names, held)
    run_id = _run_of(file)
    if run_id is None or run_id in {item.run_id for item in held}:
        return ()
    return (
        f"the file {file.name} beside {database.name} is of another release (run {run_id}) and is"
        " replaced, its signature with it: to keep both, publish into a folder of its own",
    )


def _run_of(file: Path) -> str | None:
    try:
        found = json.loads(read_beside(file))
    except (OSError, ValueError, RecursionError):
        return None
    return found.get("run_id") if isinstance(found, dict) else None
