"""Encrypted database files: their key, and what may be written beside them.

The key comes from the environment, never from a policy, and no statement holds it: it is bound as a
parameter. Where the source is encrypted, all that is written of it is too: the release, ledger,
vault, and the files of the run.

The engine reads encrypted files itself. It writes them with the extension httpfs, whose random
numbers are those of OpenSSL; its own are not made for that, and are used only if the user says so.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.compile import lit
from anonymizer.errors import EncryptionError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KEY, KEY_FILE = "ANONYMIZER_DATABASE_KEY", "ANONYMIZER_DATABASE_KEY_FILE"
"""The key of all encrypted databases of a command, or the file that holds it."""
BUNDLED = "ANONYMIZER_BUNDLED_CRYPTO"
"""Set to 1: encrypted files are written without the extension."""
WITH_KEY = "encryption_key $key"
"""The option of an attached database."""
PROBE = "anon_probe"
_FLAGS = slice(20, 28)
"""The bytes of a database file that say whether it is encrypted (bit 0)."""
_UNWRITABLE = "crypto module"
WAY_OUT = f"duckdb -c 'install httpfs'; or {BUNDLED}=1, whose random numbers are weaker"


def is_encrypted(file: Path) -> bool:
    """Return whether a file is an encrypted database."""
    with suppress(OSError):
        if not file.is_file():  # (a pipe would wait for its writer)
            return False
        with file.open("rb") as handle:
            head = handle.read(_FLAGS.stop)
        return head[8:12] == b"DUCK" and bool(int.from_bytes(head[_FLAGS], "little") & 1)
    return False


def database_key() -> str | None:
    """The key from the environment; None without one. Raises EncryptionError for a file that cannot
    be read, that others can read, or that is empty.
    """
    if os.environ.get(KEY):
        return os.environ[KEY]
    name = os.environ.get(KEY_FILE)
    if not name:
        return None
    file = Path(name)
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode):
            raise EncryptionError.at(KEY_FILE, "is not a file")
        if mode & (stat.S_IRGRP | stat.S_IROTH):
            raise EncryptionError.at(KEY_FILE, "can be read by others", hint=f"chmod 600 {name}")
        text = file.read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeError) as error:
        raise EncryptionError.at(KEY_FILE, "is no text file that can be read") from error
    if not text:
        raise EncryptionError.at(KEY_FILE, "is empty")
    return text


def required_key(file: Path, where: str) -> str:
    """The key for an encrypted file. Raises EncryptionError if none is given."""
    key = database_key()
    if key is None:
        said = f"{file.name} is encrypted, and no key is given"
        raise EncryptionError.at(where, said, hint=f"{KEY_FILE}=FILE in the environment, or {KEY}")
    return key


def load_cipher(connection: DuckDBPyConnection) -> None:
    """Let a connection of ours write encrypted files, if it can and a key is given."""
    import duckdb

    if not (os.environ.get(KEY) or os.environ.get(KEY_FILE)):
        return
    with suppress(duckdb.Error):
        connection.execute("load httpfs")
        return
    if os.environ.get(BUNDLED) == "1":
        connection.execute("set force_mbedtls_unsafe = 'true'")


def can_encrypt(connection: DuckDBPyConnection, folder: Path) -> bool:
    """Return whether a connection writes encrypted files. `folder`: where one is tried."""
    import duckdb

    file = folder / f"{PROBE}.duckdb"
    try:
        text = f"attach {lit(str(file)).text} as {PROBE} (read_write, {WITH_KEY})"
        connection.execute(text, {"key": PROBE})
        connection.execute(f"detach {PROBE}")
    except duckdb.Error:
        return False
    finally:
        file.unlink(missing_ok=True)
    return True


def refused(file: Path, where: str, error: BaseException | None) -> EncryptionError | None:
    """The error for a key that does not open a file, or for a file that cannot be written."""
    said = str(error)
    if "encryption key" in said:
        said = f"{file.name} is not opened by the key that is given"
        return EncryptionError.at(where, said, hint=f"the key in {KEY_FILE} or {KEY}")
    if _UNWRITABLE in said:
        said = f"{file.name} is to be encrypted, and the engine cannot write encrypted files here"
        return EncryptionError.at(where, said, hint=WAY_OUT)
    return None
