"""Where the desk saves: one file, which must not have changed in the meantime."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anonymizer.errors import TargetError
from anonymizer.process.files import write_text


@dataclass(slots=True)
class Target:
    """The one file that is written, and only on request."""

    path: Path
    found: str | None
    """Its last known content; None if there is no file."""

    @classmethod
    def of(cls, path: Path) -> Target:
        return cls(path, _content(path))

    def save(self, text: str) -> None:
        """Write the text. Raises TargetError if the file was changed by someone else."""
        if _content(self.path) != self.found:
            said = "was changed by somebody else since the desk read it: nothing was saved"
            hint = "begin again with the new file"
            raise TargetError.at(self.path.name, said, hint=hint)
        write_text(str(self.path), text)
        self.found = text


def _content(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise TargetError.at(path.name, "cannot be read as text") from None
