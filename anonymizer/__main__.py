"""`python -m anonymizer` is the command `anonymizer`."""

from __future__ import annotations

from anonymizer.cli import main

if __name__ == "__main__":
    main(prog_name="anonymizer")
