"""The files of a policy, found by the types of its fields, so that no output overwrites them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from anonymizer.errors import TargetError
from anonymizer.policy.schema.either import AnyPolicy
from anonymizer.policy.values import FilePath

BESIDE = (".key", ".approvals", ".wal")
"""Suffixes of files that belong to a ledger or database."""


def refuse_files(
    target: Path, policies: Iterable[AnyPolicy], others: Iterable[str | Path] = (), at: str = "-o"
) -> None:
    """Raise TargetError for a target that is a file of a policy, or one of the others."""
    named = [file for policy in policies for file in files_of(policy)]
    inputs = [*named, *map(Path, others)]
    if any(_is(target, Path(f"{file}{end}")) for file in inputs for end in ("", *BESIDE)):
        raise TargetError.at(at, "is a file that the command reads", hint="name another file")


def files_of(policy: AnyPolicy) -> Iterator[Path]:
    """Every file that the policy names, whether or not it exists."""
    for given in _given(policy):
        yield policy.resolve(given)


def names_file(annotation: Any) -> bool:
    """Whether a type is that of a path, or contains it."""
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
    """Whether both are the same file, or the target is inside the other, a folder of data."""
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
