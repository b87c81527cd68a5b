"""A release of several tables as Parquet or CSV files, each named like its table."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from anonymizer.contract.tables import in_release
from anonymizer.errors import Problem, TargetError
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.paths import name_text
from anonymizer.policy.schema.derived import lead_of
from anonymizer.policy.schema.paths import table_path
from anonymizer.publish.exported import Aside, Export, check_target, refuse_read, write_export
from anonymizer.release.as_published import unchanged_tables
from anonymizer.release.opening import opened, place_of
from anonymizer.release.stated import refuse_untrue

LONGEST = 120
"""Most bytes of a table's name, which is part of the names of its file and temporary file."""


def export_tables(policy: SchemaPolicy, given: Path, source: Path, force: bool) -> Export:
    """Write the tables of a release as files named like them, in one folder.

    `given`: a folder, or the file of the persons. See `anonymizer.publish.export.export`.
    """
    names = {name: policy.view(name) for name in (policy.person, *policy.children)}
    _refuse_names(names)
    target, made = given, False
    if given.is_dir() or not given.suffix:
        target = given / f"{names[policy.person]}.parquet"
        made = _make_folder(given)
    files = {
        name: target if name == policy.person else target.with_name(f"{published}{target.suffix}")
        for name, published in names.items()
    }
    try:
        check_target(target, source)
        refuse_read(files.values(), policy)
        if len({str(file).casefold() for file in files.values()}) < len(files):
            said = f"{target.name} is the name of another table's file"
            raise TargetError.at("-o", said, hint="name the folder alone")
        aside = Aside(target)
        reach = [aside.of(file) for file in files.values()]
        with opened(source, place_of(lead_of(policy), source), reach) as (engine, catalog):
            view, manifest, tables = unchanged_tables(policy, engine, catalog, source)
            refuse_untrue(engine, view, manifest, lead_of(policy))
            where = in_release(view)
            placed = {files[one.table]: where(one) for one in tables.tables}
            return write_export(engine, manifest, placed, aside, force)
    finally:
        if made:
            with suppress(OSError):  # a failed export leaves no folder
                given.rmdir()


def _refuse_names(names: Mapping[str, str]) -> None:
    """Raise TargetError for published tables whose names no file can have."""
    TargetError.refuse(
        Problem(
            table_path(table),
            f"is published as {name_text(name)}, which cannot be the name of a file",
            hint=f"publish: {{names: {{{name_text(table)}: <another name>}}}}",
        )
        for table, name in names.items()
        if Path(name).name != name or name.startswith(".") or len(name.encode()) > LONGEST
    )


def _make_folder(folder: Path) -> bool:
    """Create the folder of an export if it is missing; return whether it was."""
    if folder.exists() and not folder.is_dir():
        raise TargetError.at("-o", "is a file, and not a folder")
    if not folder.parent.is_dir():
        hint = f"mkdir -p {folder.parent}"
        raise TargetError.at("-o", "is in a folder that does not exist", hint=hint)
    if folder.exists():
        return False
    try:
        folder.mkdir()
    except OSError as error:
        raise TargetError.at("-o", "is in a folder that cannot be written") from error
    return True
