"""The secret of a run: 256 bits, drawn freshly and discarded, or given for a reproducible run."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path

from anonymizer.errors import PolicyError, is_waited_for, no_file

DIGITS = re.compile(r"[0-9a-fA-F]{64}\Z")


@dataclass(frozen=True, slots=True)
class Seed:
    """The secret, never shown; `reproducible` marks a release whose seed a test has fixed."""

    secret: str = field(repr=False)
    reproducible: bool = False
    given: bool = True
    """False if it was drawn for this run, so that nobody knows it."""

    @classmethod
    def fresh(cls) -> Seed:
        return cls(secrets.token_hex(32), given=False)

    @classmethod
    def of(cls, text: str, where: str = "seed") -> Seed:
        """A secret of 64 hexadecimal digits."""
        if not DIGITS.match(text.strip()):
            raise PolicyError.at(where, "is not a secret", allowed="64 hexadecimal digits")
        return cls(text.strip().lower())

    @classmethod
    def test(cls, number: int) -> Seed:
        """A fixed secret for tests; the release says that it is reproducible."""
        return cls(hashlib.sha256(f"test seed {number}".encode()).hexdigest(), True)

    @classmethod
    def from_argument(cls, seed: object) -> Seed:
        """The secret for a Python argument; if it is None, that of `choose`.

        Raises PolicyError for other types: a fresh secret instead would silently make a release
        that is not reproducible.
        """
        match seed:
            case None:
                return cls.choose()
            case Seed():
                return seed
            case str():
                return cls.of(seed)
            case Integral() if not isinstance(seed, bool):  # numbers of numpy, too
                return cls.test(int(seed))
        said = f"is of type {type(seed).__name__}, and not a secret"
        allowed = "64 hexadecimal digits as text, or a whole number for tests"
        raise PolicyError.at("seed", said, allowed=allowed)

    @classmethod
    def choose(cls, file: Path | None = None, test: int | None = None) -> Seed:
        """The secret from a test number, a file or ANONYMIZER_SEED, or a fresh one."""
        if test is not None:
            return cls.test(test)
        if file is not None:
            if is_waited_for(file):
                said = f"{file} is a named pipe, not a file"
                raise PolicyError.at("--seed-file", said)
            try:
                return cls.of(file.read_text(), "--seed-file")
            except UnicodeDecodeError as error:
                raise PolicyError.at(
                    "--seed-file", "is not text", allowed="64 hexadecimal digits"
                ) from error
            except OSError as error:
                said = no_file(file)
                if file.is_file():
                    said = f"{file} cannot be read: {os.strerror(error.errno or 0)}"
                raise PolicyError.at("--seed-file", said) from error
        if "ANONYMIZER_SEED" in os.environ:
            return cls.of(os.environ["ANONYMIZER_SEED"], "ANONYMIZER_SEED")
        return cls.fresh()
