"""Names of columns as a source has them, compared with those that the engine gives them.

The engine does not distinguish `Age` and `age`. It renames a column whose name another one has,
and names one without a name, so that a policy could protect another column than it means. Such a
source is refused. The error has no names: in a file without a line of names, they are values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anonymizer.errors import Problem, SourceError

SAME = "give them different names, or leave one out; upper and lower case count as equal"
UNNAMED = "give every column a name, or leave it out"


def refuse_renamed(
    named: Sequence[str | None], seen: Sequence[str], where: str, unnamed: str = UNNAMED
) -> None:
    """Raises SourceError for names that the engine does not keep, except for spaces around them.

    `named`: the names in the source, in its order; `seen`: those that the engine gives, which may
    have more behind them (parts of a path). `unnamed`: a hint for columns without a name.
    """
    bare = [(name or "").strip() for name in named]
    if bare != [name.strip() for name in seen[: len(bare)]]:
        changed = Problem(where, "has names of columns that the engine changes", hint=SAME)
        SourceError.refuse(list(_problems(bare, where, unnamed)) or [changed])


def _problems(bare: Sequence[str], where: str, unnamed: str) -> Iterator[Problem]:
    places: dict[str, list[int]] = {}
    for number, name in enumerate(bare, 1):
        places.setdefault(name.lower(), []).append(number)
    for number in places.pop("", []):
        yield Problem(where, f"has no name for column {number}", hint=unnamed)
    for numbers in places.values():
        if len(numbers) > 1:
            listed = ", ".join(map(str, numbers[:-1]))
            said = f"has the same name for columns {listed} and {numbers[-1]}"
            yield Problem(where, said, hint=SAME)
