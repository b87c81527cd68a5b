"""The assessment of an existing table, as figures without values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from anonymizer.contract.checks import Check
from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import PolicyError, Problem, SourceError
from anonymizer.policy import AnyPolicy, SchemaPolicy
from anonymizer.policy.values import file_format
from anonymizer.process.shown import Fact, as_html, as_text, fact
from anonymizer.review.assess import checks, figures, risk
from anonymizer.review.assess.advice import advice
from anonymizer.review.assess.combinations import Combinations, find_combinations
from anonymizer.review.assess.figures import ColumnFigures, Sizes
from anonymizer.review.assess.opening import Opened, open_table
from anonymizer.review.assess.risk import Population, Risk
from anonymizer.review.assess.staging import stage
from anonymizer.review.draft.context import guess_columns
from anonymizer.review.tables.assess import TablesAssessment, assess_tables

THRESHOLD = 0.2
"""A probability of one in five: classes with fewer than five rows are at risk."""
COMBINED = 3
"""Size of the column combinations searched for persons who are singled out."""
EMPTY = Problem("TABLE", "has no rows", hint="there is nothing to assess")


@dataclass(frozen=True, slots=True, repr=False)
class Assessment:
    """All results for one table and one choice of quasi-identifiers."""

    table: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    person: str | None
    guessed: bool
    """Whether the columns were guessed from names, types and counts."""
    sizes: Sizes
    columns: dict[str, ColumnFigures]
    risk: Risk
    population: Population | None
    combinations: Combinations | None
    size_bins: list[dict[str, int]]
    worst: list[dict[str, int]]
    checks: tuple[Check, ...] = ()
    next: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether every requirement holds; true if there are none."""
        return all(check.passed for check in self.checks)

    def _facts(self) -> list[Fact]:
        sizes, risk = self.sizes, self.risk
        whom = "persons" if sizes.persons is not None else "rows"
        facts = [
            fact("quasi-identifiers", ", ".join(self.quasi)),
            fact("rows", sizes.rows),
            *([fact("persons", sizes.persons)] if sizes.persons is not None else []),
            fact("classes", sizes.classes),
            fact("smallest class (k)", sizes.k),
            fact(f"{whom} alone in their class", risk.unique_share, risk.unique_share),
            fact(
                "chance to be found, on average", risk.prosecutor_average, risk.prosecutor_average
            ),
            fact(f"{whom} above {risk.threshold:g}", risk.prosecutor_above, risk.prosecutor_above),
        ]
        facts += [fact(f"different values of {c}", f.distinct_l) for c, f in self.columns.items()]
        return facts

    def __repr__(self) -> str:
        return as_text(f"Assessment of {self.table}", self._facts())

    def _repr_html_(self) -> str:
        return as_html(f"Assessment of {self.table}", self._facts(), "; ".join(self.next))

    def as_dict(self) -> dict[str, Any]:
        """Plain data; `distinct_l`, `t_equal`, … map each sensitive column to its figure."""
        sizes = asdict(self.sizes)
        sizes.pop("classes_held")
        by_model: dict[str, dict[str, Any]] = {}
        for column, found in self.columns.items():
            for name, value in asdict(found).items():
                by_model.setdefault(name, {})[column] = value
        for name in ("distinct_l", "t_equal"):
            by_model.setdefault(name, {})
        return {
            "table": self.table,
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "person": self.person,
            "guessed": self.guessed,
            **sizes,
            **by_model,
            "risk": asdict(self.risk),
            "population": asdict(self.population) if self.population else None,
            "combinations": self.combinations.as_dict() if self.combinations else None,
            "class_sizes": self.size_bins,
            "worst_classes": self.worst,
            "checks": [_check(check) for check in self.checks],
            "passed": self.passed,
            "next": list(self.next),
        }


def _check(check: Check) -> dict[str, Any]:
    return {name: value for name, value in check.as_dict().items() if name != "sql"}


def assess(
    table: str,
    database: Database = None,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    person: str | None = None,
    population: str | None = None,
    fraction: float | None = None,
    threshold: float = THRESHOLD,
    combined: int = COMBINED,
    require: Sequence[str] = (),
    limits: Limits | None = None,
) -> Assessment:
    """Assess `table` of `database` (a file or an open connection), or a data file, as it is.

    Without `quasi`, the columns are guessed. `population`: a table or file with the same
    quasi-identifiers that contains everybody in the table; `fraction`: the table's share of the
    population. A unit is at risk above `threshold`. `combined`: largest number of columns combined
    to see who is singled out (0: none). `require`: see `checks.parse`.

    Raises SourceError or PolicyError for what cannot be found or read.
    """
    required = checks.parse(require)
    if not 0 < threshold <= 1:
        raise PolicyError.at("--threshold", "is not a probability", allowed="above 0, up to 1")
    if fraction is not None and not 0 < fraction <= 1:
        raise PolicyError.at("--fraction", "is not a share", allowed="above 0, up to 1")
    files = (
        [population]
        if population and file_format(population) and Path(population).is_file()
        else []
    )
    with open_table(table, database, files=files, limits=limits) as opened:
        return assess_opened(
            opened,
            table,
            quasi=quasi,
            sensitive=sensitive,
            person=person,
            population=population,
            fraction=fraction,
            threshold=threshold,
            combined=combined,
            required=required,
        )


def assess_opened(
    opened: Opened,
    table: str,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    person: str | None = None,
    population: str | None = None,
    fraction: float | None = None,
    threshold: float = THRESHOLD,
    combined: int = COMBINED,
    required: Sequence[checks.Required] = (),
) -> Assessment:
    """Assess a table that is already open."""
    named = {
        "--quasi": quasi,
        "--sensitive": sensitive,
        "--person": () if person is None else [person],
    }
    chosen, protected, persons = opened.find_all(named)
    who = persons[0] if persons else None
    guessed = not chosen
    if guessed:
        if not opened.engine.raw(f"select 1 from {opened.relation.sql.text} limit 1", "assess"):
            raise SourceError(EMPTY)  # (otherwise the error would be that no column can be guessed)
        found = guess_columns(opened, known={*protected, *([who] if who else [])})
        chosen = tuple(n for n, role in found.items() if role == "quasi")
        protected = protected or tuple(n for n, role in found.items() if role == "sensitive")
    _refuse_mixed(chosen, protected, who)
    checks.refuse_unanswerable(required, protected, who, population is not None)
    staged = stage(opened, chosen, protected, who)
    at_risk = risk.at_risk_below(threshold)
    sizes = figures.sizes(staged, at_risk)
    if sizes.rows == 0:
        raise SourceError(EMPTY)
    columns = {c.column: figures.column_figures(staged, c) for c in staged.sensitive}
    other = risk.population_of(staged, population, at_risk) if population is not None else None
    found_risk = risk.risk_of(sizes, threshold, other, fraction, risk.class_sizes(staged))
    together = None
    if combined > 0 and len(staged.quasi) <= 60:
        together = find_combinations(staged, combined)
    judged = tuple(checks.judge(staged, required, sizes, other))
    return Assessment(
        table=table,
        quasi=staged.quasi,
        sensitive=tuple(c.column for c in staged.sensitive),
        person=staged.person,
        guessed=guessed,
        sizes=sizes,
        columns=columns,
        risk=found_risk,
        population=other,
        combinations=together,
        size_bins=figures.size_bins(staged),
        worst=figures.worst_classes(staged),
        checks=judged,
        next=advice(sizes, columns, found_risk, together, other, staged.person),
    )


def _refuse_mixed(quasi: Sequence[str], sensitive: Sequence[str], person: str | None) -> None:
    problems = []
    if not quasi:
        said = "names no column, and none looks like a quasi-identifier"
        problems.append(Problem("--quasi", said, hint="name the columns that others may know"))
    for option, names in (("--quasi", quasi), ("--sensitive", sensitive)):
        twice = sorted({name for name in names if names.count(name) > 1})
        problems += [Problem(option, f"names {name} twice") for name in twice]
    if person is not None and person in quasi:
        problems.append(Problem("--person", f"{person} is among the quasi-identifiers"))
    SourceError.refuse(problems)


OPTIONS = {"combined": "combinations"}
"""Parameters whose command-line option has a different name."""


def assess_policy(
    policy: AnyPolicy, database: Database = None, *, limits: Limits | None = None, **options: Any
) -> Assessment | TablesAssessment:
    """Assess the table of a policy with its roles, or its tables together.

    `options`: those of `assess`, which override the policy's roles; none are allowed with several
    tables. Raises PolicyError for options and sources that are not supported.
    """
    if isinstance(policy, SchemaPolicy):
        _refuse(options)
        return assess_tables(policy, database, limits=limits)
    source = policy.source
    if source.query is not None:
        said, hint = "is a query, and a table, view or file is assessed", "make a view of it"
        raise PolicyError.at("source.query", said, hint=hint)
    name = source.table or str(policy.resolve(source.file or "").resolve())
    roles = {"quasi": policy.quasi, "sensitive": policy.sensitive, "person": policy.person}
    found = assess(name, database, limits=limits, **{**roles, **options})
    return replace(found, table=source.table or source.file or name)


def _refuse(options: dict[str, Any]) -> None:
    in_policy = "the policy tells the person, the roles and k"
    PolicyError.refuse(
        Problem(
            f"--{OPTIONS.get(name, name)}",
            "does not go with a policy of several tables",
            hint=in_policy
            if name in ("quasi", "sensitive", "person", "require")
            else "leave it out, or assess one table: anonymizer assess TABLE",
        )
        for name in options
    )
