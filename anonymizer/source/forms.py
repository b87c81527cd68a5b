"""What a written form of an identifier is: a pattern, a check, and when it is no coincidence."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.source.check_digits import Condition

BEFORE, AFTER = "(^|[^0-9A-Za-z])", "([^0-9A-Za-z]|$)"
ALONE = 0.8
"""Share for numbers that only a check digit distinguishes, or how they are grouped."""
SOME = 0.25
"""Share for forms that a tenth of other numbers has by chance."""


@dataclass(frozen=True, slots=True)
class Form:
    """One written form of an identifier."""

    kind: str
    """The kind of identifier, as a policy names it."""
    pattern: str
    check: Condition | None = None
    least: float = 0.0
    """Least share among the values that are `like` it, or that have its pattern but may fail the
    check: below, it is a coincidence. Values of other forms do not count."""
    digits: bool = False
    """Whether a text of digits only may have it."""
    like: str | None = None
    """A wider pattern, which other numbers have as well."""

    @property
    def inside(self) -> bool:
        """Whether it may be a part of a text."""
        return not self.pattern.startswith("^")


def of(core: str) -> str:
    """A pattern that no letter or digit precedes or follows."""
    return f"{BEFORE}({core}){AFTER}"


def any_case(listed: str) -> str:
    """Words in any mix of capitals and small letters, as alternatives."""
    return "|".join(
        "".join(f"[{sign.upper()}{sign}]" if sign.isalpha() else sign for sign in word)
        for word in listed.split()
    )
