"""Requirements on an existing table (`--require k=5`), checked by the verifier's statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.compile import Sql
from anonymizer.contract.checks import Check
from anonymizer.contract.layout import PublishedColumn, Requirement
from anonymizer.errors import PolicyError, Problem
from anonymizer.privacy.guarantee import Flag, Guarantee
from anonymizer.privacy.of_policy.registry import GUARANTEES
from anonymizer.review.assess.figures import Sizes
from anonymizer.review.assess.risk import Population
from anonymizer.review.assess.staging import MEMBERS, Staged, Valued
from anonymizer.verification.guarantees import (
    groups_of,
    lower_bound,
    question,
    upper_bound,
)

FLAGS = {
    flag.name: (guarantee, flag)
    for of_values in (False, True)
    for guarantee in GUARANTEES
    if guarantee.of_values is of_values
    for flag in guarantee.flags
}
"""Flag names, table-level ones first, each with its guarantee."""
ALIASES = {alias: flag.name for _, flag in FLAGS.values() for alias in flag.aliases}
OPTION = "--require"


@dataclass(frozen=True, slots=True)
class Required:
    """One requirement as it was written."""

    name: str
    column: str | None
    figures: tuple[int | float, ...]

    @property
    def guarantee(self) -> Guarantee:
        return FLAGS[self.name][0]

    @property
    def flag(self) -> Flag:
        return FLAGS[self.name][1]


def parse(texts: Iterable[str]) -> tuple[Required, ...]:
    """Parse requirements: `k=5`, `l=3`, `t:disease=0.2`, `recursive_cl=4/2`, separated by commas.

    Raises PolicyError that lists everything that cannot be read.
    """
    found: list[Required] = []
    problems: list[Problem] = []
    for text in (part.strip() for given in texts for part in given.split(",")):
        left, equals, right = text.partition("=")
        name, _, column = left.partition(":")
        name = ALIASES.get(name.strip(), name.strip())
        if not equals or name not in FLAGS:
            said = "is not NAME=FIGURE with a known name"
            problems.append(Problem(OPTION, said, _allowed(), "as in k=5, l=3, t:disease=0.2"))
            continue
        guarantee, flag = FLAGS[name]
        parts = flag.parts
        whole = [guarantee.whole(part) for part in parts]
        figures = _figures(right, whole)
        if figures is None:
            number = "a whole number" if whole[0] else "a number"
            shape = "/".join(parts) if len(parts) > 1 else number
            problems.append(
                Problem(f"{OPTION} {name}", "has no number that can be read", allowed=shape)
            )
            continue
        if column and not guarantee.of_values:
            problems.append(Problem(f"{OPTION} {name}", "is about the table, not about a column"))
            continue
        found.append(Required(name, column.strip() or None, figures))
    PolicyError.refuse(problems)
    return tuple(found)


def _allowed() -> str:
    """All names with their abbreviations."""
    names = []
    for name, (_, flag) in FLAGS.items():
        names.append(f"{name} (or {', '.join(flag.aliases)})" if flag.aliases else name)
    return ", ".join(names)


def _figures(text: str, whole: Sequence[bool]) -> tuple[int | float, ...] | None:
    """The figures of a text, of which some are whole; None if they cannot be read."""
    given = [piece.strip() for piece in text.split("/")]
    if len(given) != len(whole):
        return None
    figures: list[int | float] = []
    for piece, is_whole in zip(given, whole, strict=True):
        try:
            figure = int(piece) if is_whole else float(piece)
        except ValueError:
            return None
        if not 0 <= figure < float("inf"):
            return None
        figures.append(figure)
    return tuple(figures)


def refuse_unanswerable(
    required: Sequence[Required], sensitive: Sequence[str], person: str | None, population: bool
) -> None:
    """Raises PolicyError for requirements that need an option which was not given."""
    problems = []
    for item in required:
        path = f"{OPTION} {item.name}"
        if item.flag.persons and person is None:
            problems.append(Problem(path, "counts persons", hint="--person COLUMN"))
        if item.guarantee.of_population and not population:
            problems.append(Problem(path, "compares with a population", hint="--population TABLE"))
        if item.guarantee.of_values and not sensitive:
            problems.append(Problem(path, "is about a sensitive column", hint="--sensitive COLUMN"))
        elif item.column is not None and item.column not in sensitive:
            said = f"{item.column} is not a sensitive column of this assessment"
            problems.append(Problem(path, said, allowed=", ".join(sensitive)))
    PolicyError.refuse(problems)


def judge(
    staged: Staged, required: Sequence[Required], sizes: Sizes, population: Population | None
) -> list[Check]:
    """Check every requirement; one without a column is checked on every sensitive column."""
    checks: list[Check] = []
    for item in required:
        if not item.guarantee.of_values:
            checks.append(_of_table(staged, item, sizes, population))
        else:
            checks += [
                _of_column(staged, item, column)
                for column in staged.sensitive
                if item.column in (None, column.column)
            ]
    return checks


def _of_table(staged: Staged, item: Required, sizes: Sizes, population: Population | None) -> Check:
    bound = item.figures[0]
    achieved: float | int | None
    if item.guarantee.of_population:
        assert population is not None
        achieved = getattr(population, item.name)
    elif item.flag.at_most:
        achieved = getattr(sizes, item.name)
    else:
        persons = item.name != "k" or staged.person is not None
        achieved = sizes.person_k if persons else sizes.k
        measured = Sql("persons" if persons else "n")
        (row,) = staged.select("risk/below.sql.j2", measured=measured, least=bound)
        passed = achieved is not None and achieved >= bound
        return Check(item.name, None, bound, achieved, passed, "", int(row[0]))
    if item.flag.at_most:
        passed = achieved is not None and achieved <= float(upper_bound(bound))
    else:
        passed = achieved is not None and achieved >= float(lower_bound(bound))
    return Check(item.name, None, bound, achieved, passed, "", 0 if passed else 1)


def _of_column(staged: Staged, item: Required, column: Valued) -> Check:
    parts = item.flag.parts
    parameters = {**dict(zip(parts, item.figures, strict=True)), **item.flag.fixed}
    requirement = Requirement(item.guarantee.name, column.column, parameters)
    shown = PublishedColumn(column.column, "sensitive", column.kind, "VARCHAR", name=column.s.text)
    person = "person" if staged.person is not None else None
    groups = groups_of(MEMBERS, "class_id", person, shown, Sql("VARCHAR"), False)
    asked = question(item.guarantee.asks_in("class")[0], requirement, groups)

    def run(text: str) -> list[tuple[Any, ...]]:
        return staged.opened.engine.raw(text, OPTION)

    found = asked.ask(run)
    achieved, required = found.achieved, found.required
    if isinstance(achieved, dict) and len(parts) == 1:
        achieved, required = achieved[parts[0]], item.figures[0]
    return Check(item.name, column.column, required, achieved, found.passed, "", found.failing)
