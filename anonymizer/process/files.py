"""Atomic file writes."""

from __future__ import annotations

from pathlib import Path


def write_text(path: str, text: str) -> None:
    """Write a file whole or not at all."""
    import os

    from anonymizer.errors import Problem, TargetError

    target = Path(path)
    aside = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(target)
    except OSError as error:
        aside.unlink(missing_ok=True)
        hint = "the folder must exist and be writable"
        raise TargetError(Problem("-o", f"{target.name} cannot be written", hint=hint)) from error
