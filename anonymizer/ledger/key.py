"""The ledger's key: 256 bits in a separate file. Without it the digests identify nobody."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from anonymizer.errors import EngineError, Problem
from anonymizer.process.files import read_beside, write_new

DIGITS = re.compile(r"[0-9a-f]{64}\Z")


def key_file(ledger: Path) -> Path:
    """The path of a ledger's key."""
    return ledger.with_name(f"{ledger.name}.key")


def read_key(ledger: Path) -> str | None:
    """The key of a ledger; None if there is none. Raises EngineError for a damaged file."""
    try:
        text = read_beside(key_file(ledger), "ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise EngineError(_unreadable(ledger)) from error
    if not DIGITS.match(text):
        raise EngineError(_unreadable(ledger))
    return text


def make_key(ledger: Path) -> str:
    """Write a new key with mode 0600 and return it; the existing one if another run was faster."""
    path = key_file(ledger)
    aside = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        write_new(aside, f"{secrets.token_hex(32)}\n".encode())
        with suppress(FileExistsError):  # a key is never replaced
            os.link(aside, path)
    except OSError as error:
        raise EngineError.at(
            "ledger",
            f"its key {path.name} cannot be written",
            hint="the folder of the ledger must exist and be writable",
        ) from error
    finally:
        aside.unlink(missing_ok=True)
    key = read_key(ledger)
    assert key is not None
    return key


def digest(key: str, text: str) -> str:
    """A keyed digest of a text that must not be stored itself (a run's secret)."""
    return hashlib.sha256(f"{key}:{text}".encode()).hexdigest()


def bound(key: str) -> str:
    """The parameter of statements that stands for a key: 128 bits derived from it.

    With these, the text to digest mostly fits into one block of MD5.
    """
    return digest(key, "statements")[:32]


def key_checks(key: str) -> tuple[str, str, str]:
    """What an entry holds to show which key it is of: one that has a seal and is in the list of
    releases, one of before there was a list, and one of before there were seals.
    """
    told = ("check of a listed entry", "check of a sealed entry", "check")
    listed, is_sealed, before = (digest(bound(key), text) for text in told)
    return listed, is_sealed, before


def _unreadable(ledger: Path) -> Problem:
    return Problem(
        "ledger",
        f"its key {key_file(ledger).name} cannot be read, or is not a key",
        allowed="64 hexadecimal digits",
        hint="restore it from a copy; without it earlier releases cannot be compared",
    )


def no_key(path: Path) -> Problem:
    """The problem of a ledger whose key is missing or a different one."""
    return Problem(
        "ledger",
        f"its key {path.name}.key is missing or is not the one its digests were made with",
        hint="restore the key; without it earlier releases cannot be compared",
    )


def same_secret() -> Problem:
    """The problem of a secret that an earlier release was made with."""
    return Problem(
        "seed",
        "is the secret of an earlier release: order and numbers of the two could be aligned",
        hint="leave out --seed-file, --test-seed and ANONYMIZER_SEED",
    )
