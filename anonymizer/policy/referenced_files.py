"""The files of a policy, found by the types of its fields, so that no output overwrites them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from anonymizer.errors import TargetError
from anonymizer.policy.model import AnyPolicy
from anonymizer.policy.values import FilePath

BESIDE = (".key", ".approvals", ".wal")
"""Suffixes of files that belong to a ledger or database."""
READ = ("hierarchy", "population")
"""Options whose files affect what is published."""
REFERENCE = "privacy."
"""Fields of populations that are compared with a release: verification reads them anew."""


def refuse_files(
    target: Path, policies: Iterable[AnyPolicy], others: Iterable[str | Path] = (), at: str = "-o"
) -> None:
    """Raise TargetError for a target that is a file of a policy, or one of the others."""
    named = [file for policy in policies for file in files_of(policy)]
    inputs = [*named, *map(Path, others)]
    if any(_is(target, Path(f"{file}{end}")) for file in inputs for end in ("", *BESIDE)):
        said = f"{target.name} is a file that the command reads"
        raise TargetError.at(at, said, hint="name another file, or a folder")


def files_of(policy: AnyPolicy) -> Iterator[Path]:
    """Every file that the policy names, whether or not it exists."""
    for given in _given(policy):
        yield policy.resolve(given)


def read_files(policy: AnyPolicy) -> dict[str, Path]:
    """The hierarchies and populations that a policy reads from files, by their paths in it."""
    return {path: policy.resolve(name) for path, name in sorted(_read(policy.to_dict(), ""))}


def declared_files(policy: AnyPolicy) -> dict[str, Path]:
    """The files that are a part of the policy's meaning: hierarchies and populations of areas.

    The population of a guarantee is not one. Verification reads it and judges the release by it,
    and a digest would let a recipient confirm a guess about its members.
    """
    return {p: file for p, file in read_files(policy).items() if not p.startswith(REFERENCE)}


def declared_digests(policy: AnyPolicy) -> dict[str, str]:
    """SHA-256 of the declared files that exist."""
    files = declared_files(policy)
    return {path: digest_of(file) for path, file in files.items() if file.is_file()}


def digest_of(file: Path) -> str:
    """SHA-256 (hex) of a file's content."""
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _read(part: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield paths in the policy, each with the file that it names."""
    if isinstance(part, Mapping):
        within = path.rpartition(".")[2]
        for name, value in part.items():
            named = f"{path}.{name}" if path else str(name)
            files = (name == "file" and within in READ) or name == "population"
            if isinstance(value, str) and files:
                yield named, value
            else:
                yield from _read(value, named)
    elif isinstance(part, list):
        for number, value in enumerate(part):
            yield from _read(value, f"{path}.{number}")


def names_file(annotation: Any) -> bool:
    """Return whether a type is that of a path, or contains it."""
    return isinstance(annotation, FilePath) or any(map(names_file, get_args(annotation)))


def _given(part: object) -> Iterator[str]:
    if isinstance(part, BaseModel):
        for name, field in type(part).model_fields.items():
            value = getattr(part, name)
            if not isinstance(value, str):
                yield from _given(value)
            elif any(map(names_file, (field.annotation, *field.metadata))):
                yield value
    elif isinstance(part, Mapping):
        for value in part.values():
            yield from _given(value)
    elif isinstance(part, tuple):
        for value in part:
            yield from _given(value)


def _is(target: Path, file: Path) -> bool:
    """True if both are the same file, or the target is inside the other, a folder of data."""
    try:
        if target.samefile(file):
            return True
    except (OSError, ValueError):
        pass  # one does not exist: compare the paths
    try:
        place, other = target.resolve(), file.resolve()
        return place == other or (other.is_dir() and other in place.parents)
    except (OSError, ValueError):
        return False
