"""Writes files completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def read_beside(path: Path, encoding: str = "utf-8") -> str:
    """The text of a file that is found by its name, beside another one or in a folder.

    Nobody chose it, so that it may be anything: a named pipe would be waited for, a device has no
    end. Raises OSError for what is no regular file, and ValueError for another encoding.
    """
    import os
    import stat

    # (not to block is for the opening of a pipe; it changes nothing for a file)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("not a regular file")
    with os.fdopen(handle, encoding=encoding) as file:
        return file.read()


def is_open_to_others(path: Path) -> bool:
    """Return whether others than its owner may access a file, if the system has such rights."""
    import os
    import stat

    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a temporary path; replace the target with it on success.

    After an error the file stays as it was, and nothing is left beside it.
    """
    import secrets

    aside = target.with_name(f"{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        yield aside
        move(aside, target)
    finally:
        with suppress(OSError):  # it was moved, or never created
            aside.unlink()


def move(aside: Path, target: Path) -> None:
    """Put a written file in the place of another one, and its content on the disk before."""
    import os

    with aside.open("rb") as written:
        os.fsync(written.fileno())
    aside.replace(target)


def write_text(path: str, text: str) -> None:
    """Write a text completely or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: str, content: bytes) -> None:
    """Write a file completely or not at all."""
    import os

    from anonymizer.errors import TargetError

    target = Path(path)
    try:
        with replacing(target) as aside:
            aside.write_bytes(content)
    except OSError as error:
        said = f"{target.name} cannot be written: {os.strerror(error.errno or 0)}"
        hint = "the folder must exist and be writable, and the disk have room"
        raise TargetError.at("-o", said, hint=hint) from error


def write_new(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Create a file completely or not at all; by default only its owner may access it.

    Raises OSError, also if the file exists.
    """
    import os

    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def append(path: Path, content: bytes) -> None:
    """Append to a file that only its owner may access. Raises OSError, with the file unchanged.

    On a full disk the system may write a part without an error.
    """
    import os

    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        lock(handle)
        before = os.fstat(handle).st_size
        try:
            left = content
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        except BaseException:
            os.ftruncate(handle, before)
            raise
    finally:
        os.close(handle)


def lock(handle: int) -> None:
    """Lock an open file or folder until it is closed, if the system has such locks."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(handle, fcntl.LOCK_EX)
