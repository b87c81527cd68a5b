"""The assessment of an existing table: figures, requirements, and next steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from anonymizer.compile import Sql
from anonymizer.contract.checks import Check
from anonymizer.contract.layout import PublishedColumn, Requirement
from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import PolicyError, Problem, SourceError
from anonymizer.guarantees.guarantee import Flag, Guarantee
from anonymizer.guarantees.requirements import GUARANTEES
from anonymizer.guarantees.size import KAnonymity
from anonymizer.policy import AnyPolicy
from anonymizer.policy.reading import Reading
from anonymizer.policy.values import file_format
from anonymizer.process.document import Bar, Document, NotebookResult, Section, facts, say
from anonymizer.review.assess import figures
from anonymizer.review.assess.classes import (
    MEMBERS,
    AssessedTable,
    SensitiveColumn,
    Staged,
    open_table,
    stage,
)
from anonymizer.review.assess.figures import (
    ColumnFigures,
    Combinations,
    Population,
    Risk,
    Sizes,
    find_combinations,
)
from anonymizer.review.draft.guess import guess_columns
from anonymizer.review.observers import TablesAssessment, assess_tables
from anonymizer.verification.guarantees import groups_of, question

# Recommended next steps, derived from the figures of an assessment.


def advice(
    sizes: Sizes,
    columns: Mapping[str, ColumnFigures],
    risk: Risk,
    together: Combinations | None,
    population: Population | None,
    person: str | None,
) -> tuple[str, ...]:
    """Recommendations as sentences, the most urgent first."""
    found = [*_identity(sizes, risk, together, person), *_values(columns), *_population(population)]
    if not found:
        found = [
            "no class is small and no value stands out; check that no quasi-identifier is missing"
        ]
    return tuple(found)


def _identity(
    sizes: Sizes, risk: Risk, together: Combinations | None, person: str | None
) -> Iterator[str]:
    unit = "rows" if person is None else "persons"
    alone = sizes.uniques if sizes.unique_persons is None else sizes.unique_persons
    if alone:
        yield (
            f"{alone:,} of {sizes.units:,} {unit} are alone with their values: this table is not"
            " anonymous; draft a policy with anonymizer init, and run it"
        )
    elif sizes.units_below:
        yield (
            f"{sizes.units_below:,} of {sizes.units:,} {unit} are in classes with a risk above"
            f" {risk.threshold:g}: generalize, or leave them out"
        )
    if together is not None and alone and together.without:
        best, left = min(together.without.items(), key=lambda item: (item[1].singled_out, item[0]))
        if left.singled_out < alone:
            yield f"{best} does the most damage: without it {left.singled_out:,} {unit} are alone"
        smallest = [s for s in together.subsets if s.minimal]
        if smallest:
            one = min(smallest, key=lambda s: (-(s.minimal or 0), s.columns))
            names = " + ".join(one.columns)
            says = "alone singles out" if len(one.columns) == 1 else "single out"
            yield f"{names} {says} {one.singled_out:,} {unit}"
    if sizes.rows_without_person:
        yield f"{sizes.rows_without_person:,} rows name no person, and count for none"
    if person is None:
        yield "if one person can have several rows, name the column that tells whose: --person"


def _values(columns: Mapping[str, ColumnFigures]) -> Iterator[str]:
    for name, found in columns.items():
        if found.distinct_l <= 1:
            yield (
                f"{name}: {found.homogeneous_units:,} are in classes with a single value of it, so"
                " that finding the class tells the value; protect: {l_diversity: 3}"
            )
        elif found.alpha > 0.8:
            yield (
                f"{name}: one value reaches a share of {found.alpha:.2f} in a class;"
                " protect: {entropy_l: 3} or {alpha: 0.5}"
            )


def _population(population: Population | None) -> Iterator[str]:
    if population is not None and population.unmatched_units:
        yield (
            f"{population.unmatched_units:,} are in classes with fewer members in the population"
            " than in the table: it is not the population of this table"
        )


# Requirements on an existing table (`--require k=5`), checked by the verifier's statements.


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
class RequirementFigures:
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


def parse(texts: Iterable[str]) -> tuple[RequirementFigures, ...]:
    """Parse requirements: `k=5`, `l=3`, `t:disease=0.2`, `recursive_cl=4/2`, separated by commas.

    Raises PolicyError that lists everything that cannot be read.
    """
    found: list[RequirementFigures] = []
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
        whole = [guarantee.is_integer(part) for part in parts]
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
        found.append(RequirementFigures(name, column.strip() or None, figures))
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
    required: Sequence[RequirementFigures],
    sensitive: Sequence[str],
    person: str | None,
    population: bool,
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
    staged: Staged,
    required: Sequence[RequirementFigures],
    sizes: Sizes,
    population: Population | None,
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


def _of_table(
    staged: Staged, item: RequirementFigures, sizes: Sizes, population: Population | None
) -> Check:
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
        holds = KAnonymity(None, int(bound)).holds()
        ((below,),) = staged.select("risk/below", measured=measured, holds=holds)
        return Check(item.name, None, bound, achieved, not below, "", below)
    passed = item.flag.holds(achieved, bound)
    return Check(item.name, None, bound, achieved, passed, "", 0 if passed else 1)


def _of_column(staged: Staged, item: RequirementFigures, column: SensitiveColumn) -> Check:
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


# The assessment of an existing table, as figures without values.


THRESHOLD = 0.2
"""A probability of one in five: classes with fewer than five rows are at risk."""
COMBINED = 3
"""Size of the column combinations searched for persons who are singled out."""
EMPTY = Problem("TABLE", "has no rows", hint="there is nothing to assess")


@dataclass(frozen=True, slots=True, repr=False)
class Assessment(NotebookResult):
    """All results for one table and one choice of quasi-identifiers."""

    table: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    person: str | None
    guessed: bool
    """True if the columns were guessed from names, types and counts."""
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
        """True if every requirement holds; true if there are none."""
        return all(check.passed for check in self.checks)

    def _document(self) -> Document:
        sizes, risk = self.sizes, self.risk
        whom = "persons" if sizes.persons is not None else "rows"
        rows: list[tuple[Any, ...]] = [
            ("quasi-identifiers", ", ".join(self.quasi)),
            ("rows", sizes.rows),
            *([("persons", sizes.persons)] if sizes.persons is not None else []),
            ("classes", sizes.classes),
            ("smallest class (k)", sizes.k),
            *(
                (name, Bar(share, share))
                for name, share in (
                    (f"{whom} alone in their class", risk.unique_share),
                    ("chance to be found, on average", risk.prosecutor_average),
                    (f"{whom} above {risk.threshold:g}", risk.prosecutor_above),
                )
            ),
            *((f"different values of {c}", f.distinct_l) for c, f in self.columns.items()),
        ]
        return Document(
            f"Assessment of {self.table}", (facts(rows),), (Section("Next", (say(*self.next),)),)
        )

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
    read: Reading | None = None,
) -> Assessment:
    """Assess `table` of `database` (a file or an open connection), or a data file, as it is.

    Without `quasi`, the columns are guessed. `population`: a table or file with the same
    quasi-identifiers that contains everybody in the table; `fraction`: the table's share of the
    population. A unit is at risk above `threshold`. `combined`: largest number of columns combined
    to see who is singled out (0: none). `require`: see `checks.parse`. `read`: how a text file is
    read, which is found from it by default.

    Raises SourceError or PolicyError for what cannot be found or read.
    """
    required = parse(require)
    if not 0 < threshold <= 1:
        raise PolicyError.at("--threshold", "is not a probability", allowed="above 0, up to 1")
    if fraction is not None and not 0 < fraction <= 1:
        raise PolicyError.at("--fraction", "is not a share", allowed="above 0, up to 1")
    files = (
        [population]
        if population and file_format(population) and Path(population).is_file()
        else []
    )
    with open_table(
        table, database, files=files, limits=limits, recognizes=read is None, read=read
    ) as found:
        opened = found.with_together(person)
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
    opened: AssessedTable,
    table: str,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    person: str | None = None,
    population: str | None = None,
    fraction: float | None = None,
    threshold: float = THRESHOLD,
    combined: int = COMBINED,
    required: Sequence[RequirementFigures] = (),
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
    refuse_unanswerable(required, protected, who, population is not None)
    staged = stage(opened, chosen, protected, who)
    at_risk = figures.at_risk_below(threshold)
    sizes = figures.sizes(staged, at_risk)
    if sizes.rows == 0:
        raise SourceError(EMPTY)
    columns = {c.column: figures.column_figures(staged, c) for c in staged.sensitive}
    other = figures.population_of(staged, population, at_risk) if population is not None else None
    found_risk = figures.risk_of(sizes, threshold, other, fraction, figures.class_sizes(staged))
    together = None
    if combined > 0 and len(staged.quasi) <= 60:
        together = find_combinations(staged, combined)
    judged = tuple(judge(staged, required, sizes, other))
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
    if policy.several:
        _refuse(options)
        return assess_tables(policy, database, limits=limits)
    policy = policy.one_table("assess")
    source = policy.source
    if source.query is not None:
        said, hint = "is a query, and a table, view or file is assessed", "make a view of it"
        raise PolicyError.at("source.query", said, hint=hint)
    name = source.table or str(policy.source_path.resolve())
    roles = {"quasi": policy.quasi, "sensitive": policy.sensitive, "person": policy.person}
    found = assess(name, database, limits=limits, read=source.read, **{**roles, **options})
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
