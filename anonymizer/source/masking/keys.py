"""Keys of tokens, shifts and noise: from a file, which persists, or from the secret of the run.

They are bound parameters of the masking statements, and are in no text.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from anonymizer.errors import EngineError, PolicyError, Problem, is_waited_for
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.paths import column_path
from anonymizer.policy.schema.derived import singles_of
from anonymizer.process.files import write_new

DIGITS = re.compile(r"[0-9a-f]{64}\Z")
BLOCK = 64
"""Bytes of a block of SHA-256."""
FORGOTTEN = "run"
"""Name of the key that is discarded after the run."""


def key_names(policy: Policy) -> dict[str, str]:
    """The name of the key of each column; columns with the same file share one."""
    files = {name: policy.columns[name].key_file for name in policy.masked}
    return {
        name: FORGOTTEN if file is None else hashlib.sha256(file.encode()).hexdigest()[:8]
        for name, file in files.items()
    }


def bind(key: str, part: str) -> str:
    """The bound parameter with a part of a key: `inner`, `outer` or `draw`."""
    return f"mask_{key}_{part}"


def bound_values(policy: AnyPolicy, secret: str, *, lasting: bool = False) -> dict[str, str]:
    """The values of all bound parameters: the secret of the run, and the keys of all tables' masks.

    `lasting`: read key files, for a release; trials use the secret alone. Raises PolicyError for
    key files that cannot be used.
    """
    found = {"secret": secret}
    for at, single in singles_of(policy).items():
        found |= _bound(single, secret, at, lasting=lasting)
    return found


def _bound(policy: Policy, secret: str, at: str, *, lasting: bool) -> dict[str, str]:
    keys: dict[str, bytes] = {}
    problems: list[Problem] = []
    for column, name in key_names(policy).items():
        file = policy.columns[column].key_file
        if name in keys:
            continue
        if file is None or not lasting:
            keys[name] = _derived(bytes.fromhex(secret), f"mask {name}")
            continue
        found = read_key(policy.resolve(file), at + column_path(column, "key_file"))
        if isinstance(found, Problem):
            problems.append(found)
        else:
            keys[name] = found
    PolicyError.refuse(problems)
    return {
        bind(name, part): value for name, key in keys.items() for part, value in _parts(key).items()
    }


def _parts(key: bytes) -> dict[str, str]:
    """The two initial blocks of HMAC (RFC 2104), and the key of draws, in hexadecimal."""
    padded = key.ljust(BLOCK, b"\0")
    return {
        "inner": bytes(byte ^ 0x36 for byte in padded).hex(),
        "outer": bytes(byte ^ 0x5C for byte in padded).hex(),
        "draw": _derived(key, "draw").hex(),
    }


def _derived(key: bytes, purpose: str) -> bytes:
    return hmac.new(key, purpose.encode(), hashlib.sha256).digest()


def read_key(path: Path, where: str) -> bytes | Problem:
    """The key in a file, or the problem with it."""
    hint = f"anonymizer key secret {path.name} makes one"
    if is_waited_for(path):
        return Problem(where, f"{path.name} is a named pipe, not the file of a key", hint=hint)
    try:
        with path.open(encoding="ascii") as file:
            open_to_others = os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077
            text = file.read(BLOCK * 2).strip()
    except FileNotFoundError:
        return Problem(where, f"the file {path.name} is not there", hint=hint)
    except (OSError, ValueError):
        return Problem(where, f"the file {path.name} cannot be read", hint=hint)
    if open_to_others:
        said = f"the file {path.name} can be read by others, and a key is for its owner alone"
        return Problem(where, said, hint=f"chmod 600 {path.name}")
    if not DIGITS.match(text):
        return Problem(where, f"the file {path.name} holds no key", "64 hexadecimal digits", hint)
    return bytes.fromhex(text)


def new_secret(path: Path) -> None:
    """Write a new key of 256 bits for its owner only. Raises EngineError; never overwrites."""
    try:
        write_new(path, f"{secrets.token_hex(32)}\n".encode("ascii"))
    except FileExistsError as error:
        said = "is there already, and a key is never overwritten"
        raise EngineError.at(path.name, said, hint="another name") from error
    except OSError as error:
        hint = "the folder must exist and be writable, and the disk have room"
        raise EngineError.at(path.name, "cannot be written", hint=hint) from error
