"""Requirements on a table as it is (`--require k=5`), judged by the verifier's own statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.assess.figures import Sizes
from anonymizer.assess.risk import Population
from anonymizer.assess.staging import MEMBERS, Staged, Valued
from anonymizer.compile import Sql
from anonymizer.errors import PolicyError, Problem
from anonymizer.release.layout import PublishedColumn, Requirement
from anonymizer.verify.result import Check
from anonymizer.verify.rules import RULES

ALIASES = {
    "l": "distinct_l",
    "l_diversity": "distinct_l",
    "t": "t_equal",
    "t_closeness": "t_equal",
    "k_anonymity": "k",
    "beta": "beta_likeness",
    "delta": "delta_disclosure",
}
TABLE = {
    "k": "at least, rows (persons, with --person) in every class",
    "person_k": "at least, persons in every class",
    "uniques": "at most, rows alone in their class",
    "unique_persons": "at most, persons alone in their class",
    "ir_k": "at least, persons in every class",
    "k_map": "at least, members of the population in every class",
    "presence_min": "at least, share of a class's members in the table",
    "presence_max": "at most, share of a class's members in the table",
}
VALUES: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "distinct_l": ("distinct_l", ("l",), {}),
    "entropy_l": ("entropy_l", ("l",), {}),
    "recursive_cl": ("recursive_cl", ("c", "l"), {}),
    "t_equal": ("t_closeness", ("t",), {"distance": "equal"}),
    "t_ordered": ("t_closeness", ("t",), {"distance": "ordered"}),
    "alpha": ("alpha", ("alpha",), {}),
    "beta_likeness": ("beta_likeness", ("beta",), {}),
    "delta_disclosure": ("delta_disclosure", ("delta",), {}),
    "ir_kl": ("ir_kl", ("k", "l"), {}),
    "ir_alpha_beta": ("ir_alpha_beta", ("alpha", "beta"), {}),
    "eir_l": ("eir_l", ("l",), {}),
    "eir_alpha_beta": ("eir_alpha_beta", ("alpha", "beta"), {}),
}
WHOLE = {"k", "person_k", "uniques", "unique_persons", "ir_k", "k_map", "l"}
PERSONS = {
    "person_k",
    "unique_persons",
    "ir_k",
    "ir_kl",
    "ir_alpha_beta",
    "eir_l",
    "eir_alpha_beta",
}
POPULATION = {"k_map", "presence_min", "presence_max"}
OPTION = "--require"


@dataclass(frozen=True, slots=True)
class Required:
    """One requirement as it was written."""

    name: str
    column: str | None
    figures: tuple[int | float, ...]


def parse(texts: Iterable[str]) -> tuple[Required, ...]:
    """`k=5`, `l=3`, `t:disease=0.2`, `recursive_cl=4/2`; several may stand in one text with commas.

    Raises PolicyError with everything that cannot be read.
    """
    found: list[Required] = []
    problems: list[Problem] = []
    for text in (part.strip() for given in texts for part in given.split(",")):
        left, equals, right = text.partition("=")
        name, _, column = left.partition(":")
        name = ALIASES.get(name.strip(), name.strip())
        if not equals or name not in {*TABLE, *VALUES}:
            said = "is not NAME=FIGURE with a known name"
            problems.append(Problem(OPTION, said, _allowed(), "as in k=5, l=3, t:disease=0.2"))
            continue
        parts = VALUES[name][1] if name in VALUES else (name,)
        figures = _figures(right, parts)
        if figures is None:
            shape = "/".join(parts) if len(parts) > 1 else "a number"
            problems.append(
                Problem(f"{OPTION} {name}", "has no figure that can be read", allowed=shape)
            )
            continue
        if column and name in TABLE:
            problems.append(Problem(f"{OPTION} {name}", "is about the table, not about a column"))
            continue
        found.append(Required(name, column.strip() or None, figures))
    if problems:
        raise PolicyError(problems)
    return tuple(found)


def _allowed() -> str:
    """Every name, with the shorter ones that stand for it."""
    names = []
    for name in (*TABLE, *VALUES):
        short = [alias for alias, meant in ALIASES.items() if meant == name]
        names.append(f"{name} (or {', '.join(short)})" if short else name)
    return ", ".join(names)


def _figures(text: str, parts: Sequence[str]) -> tuple[int | float, ...] | None:
    given = [piece.strip() for piece in text.split("/")]
    if len(given) != len(parts):
        return None
    figures: list[int | float] = []
    for part, piece in zip(parts, given, strict=True):
        try:
            figure = int(piece) if part in WHOLE else float(piece)
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
        if item.name in PERSONS and person is None:
            problems.append(Problem(path, "counts persons", hint="--person COLUMN"))
        if item.name in POPULATION and not population:
            problems.append(Problem(path, "compares with a population", hint="--population TABLE"))
        if item.name in VALUES and not sensitive:
            problems.append(Problem(path, "is about a sensitive column", hint="--sensitive COLUMN"))
        elif item.column is not None and item.column not in sensitive:
            said = f"{item.column} is not a sensitive column of this assessment"
            problems.append(Problem(path, said, allowed=", ".join(sensitive)))
    if problems:
        raise PolicyError(problems)


def judge(
    staged: Staged, required: Sequence[Required], sizes: Sizes, population: Population | None
) -> list[Check]:
    """Every requirement, on every sensitive column where it names none."""
    checks: list[Check] = []
    for item in required:
        if item.name in TABLE:
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
    if item.name in POPULATION:
        assert population is not None
        achieved = getattr(population, item.name)
    elif item.name in ("uniques", "unique_persons"):
        achieved = getattr(sizes, item.name)
    else:
        persons = item.name != "k" or staged.person is not None
        achieved = sizes.person_k if persons else sizes.k
        measured = Sql("persons" if persons else "n")
        (row,) = staged.select("risk/below.sql.j2", measured=measured, least=bound)
        passed = achieved is not None and achieved >= bound
        return Check(item.name, None, bound, achieved, passed, "", int(row[0]))
    most = item.name in ("uniques", "unique_persons", "presence_max")
    passed = achieved is not None and (achieved <= bound if most else achieved >= bound)
    return Check(item.name, None, bound, achieved, passed, "", 0 if passed else 1)


def _of_column(staged: Staged, item: Required, column: Valued) -> Check:
    rule, parts, fixed = VALUES[item.name]
    parameters = {**dict(zip(parts, item.figures, strict=True)), **fixed}
    groups = {
        "data": MEMBERS,
        "group": "class_id",
        "label": "class_id",
        "person": "person" if staged.person is not None else None,
        "column": PublishedColumn(
            column.column, "sensitive", column.kind, "VARCHAR", name=column.s.text
        ),
        "type": Sql("VARCHAR"),
        "nulls_count": False,
    }
    question = RULES[rule](Requirement(rule, column.column, parameters), groups)

    def run(text: str) -> list[tuple[Any, ...]]:
        return staged.opened.engine.raw(text, OPTION)

    found = question.ask(run)
    achieved, required = found.achieved, found.required
    if isinstance(achieved, dict) and len(parts) == 1:
        achieved, required = achieved[parts[0]], item.figures[0]
    return Check(item.name, column.column, required, achieved, found.passed, "", found.failing)
