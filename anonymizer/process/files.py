"""Files that are written whole or not at all."""

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


def write_text(path: str, text: str) -> None:
    """Write a file whole or not at all."""
    import os

    from anonymizer.errors import TargetError

    target = Path(path)
    aside = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(target)
    except OSError as error:
        said = f"{target.name} cannot be written: {os.strerror(error.errno or 0)}"
        hint = "the folder must exist and be writable, and the disk have room"
        raise TargetError.at("-o", said, hint=hint) from error
    finally:
        with suppress(OSError):  # it is not there, or was never made
            aside.unlink()


def write_new(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Write a file that was not there, or none at all; without `mode` for its owner alone.

    Raises OSError.
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
    """Append to a file of its owner alone. Raises OSError, and leaves the file as it was then.

    On a full disk the system writes a part without an error.
    """
    import os

    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        with _held(handle):
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


@contextmanager
def _held(handle: int) -> Iterator[None]:
    """One process after the other, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    fcntl.flock(handle, fcntl.LOCK_EX)
    yield  # closing the file gives it back
