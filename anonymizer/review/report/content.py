"""The content of a report as data: figures, verdict, classes, and how they are collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from anonymizer.algorithms.registry import publishes_nodes
from anonymizer.compile import ident, work
from anonymizer.contract.checks import Verification
from anonymizer.contract.layout import Layout, Requirement, quasi
from anonymizer.contract.reading import Tables
from anonymizer.engines.base import Limits
from anonymizer.engines.execute import Executor
from anonymizer.errors import AnonymizerError, PolicyError
from anonymizer.guarantees.requirements import BY_NAME, GUARANTEES, least_class
from anonymizer.measure.queries import (
    Draws,
    QueryTables,
    RoundedErrors,
    about,
    about_share,
    enough,
    rounded_errors,
    stage,
)
from anonymizer.measure.usefulness import Little, little_left
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.columns import MASKS, Column
from anonymizer.policy.kinds import ReleaseKind
from anonymizer.policy.values import columns_of
from anonymizer.process.text import many
from anonymizer.release.certificate import known_attacks, mask_words
from anonymizer.release.consistency import refuse_other_figures
from anonymizer.release.judge import judge, judge_tables
from anonymizer.release.manifest import Manifest, stated_certificate
from anonymizer.release.opening import members_at_hand, population_steps, release_file
from anonymizer.release.signing import LISTS_VALUES
from anonymizer.review.assess import Assessment, assess_opened
from anonymizer.review.assess.classes import AssessedTable
from anonymizer.review.assess.figures import Combinations, Risk, Sizes, Subset
from anonymizer.review.attack import SHARE, Attack, attack
from anonymizer.review.inputs import (
    Beside,
    Published,
    beside,
    open_beside,
    open_release,
    unit_of,
)
from anonymizer.review.observers import Observer, in_source, observers_of_release, open_tables
from anonymizer.review.report.distributions import Distribution, alone, compared
from anonymizer.review.report.linked_tables import (
    TablesReport,
    columns_of_tables,
    figures_of_tables,
    required,
)
from anonymizer.review.report.workload import Answer, run_workload
from anonymizer.run.release_rows import members_read
from anonymizer.run.warnings import nearly_unique, remarks, repeats, unique_remark
from anonymizer.source.snapshot import Relation
from anonymizer.verification.guarantees import Members

# The policy in words, for readers who do not know YAML.


ROLES = {
    "identifier": "says who somebody is",
    "quasi": "may be known to others",
    "sensitive": "must not become known of anybody",
    "keep": "is published as it is",
    "drop": "is not published",
    "masked": "is published masked",
}
NO_GUARANTEE = "No guarantee is promised, of the table or of any column."
CHECKS = {
    ask.name.format(name=guarantee.name): ask.words
    for guarantee in GUARANTEES
    for ask in guarantee.asks
    if ask.words is not None
}


def column_sentences(policy: Policy, layout: Layout) -> Iterator[dict[str, str]]:
    """Every column: its name, its role, and its treatment."""
    kinds = {column.column: column.kind for column in layout.columns}
    for name, column in policy.columns.items():
        how = "as ranges or sets"
        if column.role == "quasi" and publishes_nodes(policy, name, kinds[name]):
            how = "as nodes of its hierarchy"
        how += ", the same for everybody in a class"
        if layout.class_id is None:
            how = "as it was, apart from the sensitive values of its group"
        says = _column(policy, name, column, how)
        yield {"column": name, "role": column.role, "says": says}


def _column(policy: Policy, name: str, column: Column, how: str) -> str:
    said = ROLES["masked" if column.role in MASKS else column.role]
    if name in columns_of(policy.person) and column.role not in ("keep", "token"):
        return "identifies the person; published as a random number"
    if name in columns_of(policy.key) and column.role != "token":
        return "distinguishes rows; never published"
    if column.masks:
        masked = mask_words(policy, name)
        if column.role in MASKS:
            return f"{said}: {masked}"
        said += f"; read {masked}"
    if column.role == "identifier":
        return f"{said}; never published"
    if column.role == "quasi":
        said += f"; published {how}"
        if column.sensitive_when is not None:
            said += f"; where {column.sensitive_when} holds, the cell counts as sensitive"
    if column.role == "sensitive" and column.protect is None:
        said += "; no rule of its own"
    return said


def guarantee_sentence(requirement: Requirement, unit: str) -> str:
    """The sentence that describes a requirement."""
    guarantee = BY_NAME.get(requirement.name)
    return guarantee.sentence(requirement, unit) if guarantee is not None else requirement.name


# The verdict of a report: does not hold; holds, but little is left; holds and is useful.


State = Literal["fails", "little", "useful"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One sentence at the top of the page, and the reasons for it."""

    state: State
    says: str
    reasons: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return self.state != "fails"


def verdict(
    verification: Verification,
    little: Sequence[Little],
    attacked: Attack | None,
    *,
    promised: bool = True,
    observers: Sequence[Observer] = (),
) -> Verdict:
    """The verdict that follows from the checks, the attacks and the measures.

    `promised`: whether the policy has any guarantee.
    """
    failed = len(verification.failed)
    reasons = []
    if not verification.passed:
        of = many(len(verification.checks), "check")
        hold = "does not hold" if failed == 1 else "do not hold"
        reasons.append(f"{failed:,} of {of} {hold}")
    if attacked is not None and not attacked.alone_holds:
        reasons.append("an attack got beyond a bound that the release promises")
    if not all(one.holds for one in observers):
        reasons.append("an observer got beyond a bound that the release promises")
    broken = _together(attacked, holding=False)
    if reasons:
        says = "This release does not hold, and must not be used."
        return Verdict("fails", says, (*reasons, *broken))
    if broken:
        says = "This release does not hold beside the earlier one: whoever has both knows too much."
        return Verdict("fails", says, tuple(broken))
    form = len(verification.form)
    guarantees = many(len(verification.guarantees), "guarantee")
    said = f"{guarantees} and {many(form, 'condition')} of form hold"
    if not promised:
        holding = many(form, "condition of form holds", "conditions of form hold")
        said = f"This release promises no guarantee: it is personal data. {holding}."
        return Verdict("little", said)
    if verification.not_checked:
        said = f"all that were checked of them: {said}"
    said += ", judged again for this report from the rows of the release"
    exposed = tuple(_together(attacked, holding=True))
    if little:
        reasons = [str(found) for found in little]
        says = f"The release holds, but little is left: {said}."
        return Verdict("little", says, (*reasons, *exposed))
    return Verdict("useful", f"The release holds, and enough is left: {said}.", exposed)


def _together(attacked: Attack | None, *, holding: bool) -> list[str]:
    """Joint effects with an earlier release, where guarantees hold (or do not, by `holding`)."""
    if attacked is None:
        return []
    found = [s for x in attacked.intersection if x.holds for s in x.says(attacked.unit)]
    return [
        f"with the earlier release {said}" for said in (found if holding else attacked.broken())
    ]


# The content of a report as data, from which HTML, Markdown and JSON are rendered.


@dataclass(frozen=True, slots=True)
class Report:
    """A release in figures and sentences, without identifiers, rare values or rows."""

    policy: Policy
    """The policy of the view: with several tables, of the persons."""
    manifest: dict[str, Any]
    verification: Verification
    floor: int
    unit: str
    columns: tuple[dict[str, str], ...]
    guarantees: tuple[str, ...]
    before: Assessment | None
    after: Assessment
    distributions: tuple[Distribution, ...]
    counts: RoundedErrors | None
    workload: tuple[Answer, ...]
    warnings: tuple[str, ...]
    attacks: tuple[str, ...] = field(default=())
    certificate: str = ""
    little: tuple[Little, ...] = ()
    """Properties of which little is left."""
    attacked: Attack | None = None
    """Results of attacks run for this report."""
    linked: TablesReport | None = None
    """With several tables: what they tell together."""

    @property
    def verdict(self) -> Verdict:
        promised = bool(self.manifest["requirements"])
        observers = self.linked.after if self.linked is not None else ()
        return verdict(
            self.verification, self.little, self.attacked, promised=promised, observers=observers
        )

    @property
    def kind(self) -> ReleaseKind:
        return Manifest(self.manifest).kind

    @property
    def observer_knowledge(self) -> str:
        """The knowledge that the risk figures assume of the observer."""
        known = "published values" if self.layout.classless else "quasi-identifiers"
        return f"all {known} of a person"

    @property
    def safe_harbor(self) -> tuple[tuple[str, str, str], ...]:
        """Letter, words and treatment of the eighteen identifiers, if under Safe Harbor."""
        listed = self.manifest.get("safe_harbor") or ()
        return tuple(
            (
                one["letter"],
                one["identifier"],
                "; ".join(f"{of['column']}: {of['done']}" for of in one["columns"]) or one["done"],
            )
            for one in listed
        )

    @property
    def layout(self) -> Layout:
        return Layout.from_dict(self.manifest["layout"])

    @property
    def has_source(self) -> bool:
        return self.before is not None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for programs."""
        return {
            "view": self.manifest["view"],
            "kind": self.kind,
            "run_id": self.manifest["run_id"],
            "created": self.manifest["created"],
            "algorithm": self.manifest["algorithm"],
            "reproducible": self.manifest["reproducible"],
            "passed": self.verification.passed,
            "verdict": asdict(self.verdict),
            "little_left": [asdict(found) for found in self.little],
            "attack": self.attacked.as_dict() if self.attacked else None,
            **(self.linked.as_dict() if self.linked else {}),
            "policy": {"columns": list(self.columns), "guarantees": list(self.guarantees)},
            "verification": self.verification.as_dict(),
            "risk": {
                "before": _risk(self.before) if self.before else None,
                "after": _risk(self.after),
            },
            "class_sizes": {
                "before": self.before.size_bins if self.before else None,
                "after": self.after.size_bins,
            },
            "distributions": [asdict(found) for found in self.distributions],
            "measures": self.manifest["measures"],
            "query_error": asdict(self.counts) if self.counts else None,
            "workload": [asdict(answer) for answer in self.workload],
            **({"safe_harbor": self.manifest["safe_harbor"]} if self.safe_harbor else {}),
            "certificate": self.certificate,
            "known_attacks": list(self.attacks),
            "manifest": self.manifest,
            "warnings": list(self.warnings),
            "shown_from": self.floor,
        }


def _risk(found: Assessment) -> dict[str, Any]:
    sizes = {n: v for n, v in asdict(found.sizes).items() if n != "classes_held"}
    return {**sizes, **asdict(found.risk)}


# The classes of source and release for the same observer, so that both are comparable.
#
# The observer knows the quasi-identifiers of all rows of a person, and looks for matching persons.
# In a release all rows of a person are in one class. In a source they may differ; persons whose
# rows have the same set of quasi-identifiers are then in one class.


KNOWN, ALONE = work("report_persons"), work("report_persons_without")
FEWEST = 5
"""Smallest bin of class sizes in the source, in units, that is shown."""
EXACT = frozenset({"rows", "persons", "k", "person_k", "threshold", "prosecutor_max"})
"""Figures of the source that are shown unrounded: its size, and its smallest class."""


def before(policy: Policy, beside: Beside) -> Assessment:
    """Classes of the source, with rounded counts."""
    session = beside.session
    opened = AssessedTable(session.embedded, session.source, session.profile.columns)
    if policy.algorithm.classless:
        person = policy.person
        names = [c.column for c in beside.layout.columns if c.column != person]
        found = assess_opened(opened, "source", quasi=names, person=person, combined=0)
        return _about(found)
    if policy.person is not None and _rows_differ(opened, policy.quasi, policy.person):
        return _about(_by_persons(opened, policy.quasi, policy.person))
    found = assess_opened(
        opened,
        "source",
        quasi=policy.quasi,
        sensitive=policy.sensitive,
        person=policy.person,
        combined=2,
    )
    return _about(found)


def after(release: Published) -> Assessment:
    """Classes of the release; without class numbers (msb), rows with equal published cells."""
    layout = release.layout
    described = tuple(release.engine.describe(ident(release.view).text, "release"))
    opened = AssessedTable(release.engine, Relation(ident(release.view), release.view), described)
    names = [layout.class_id] if layout.class_id else [c.name for c in quasi(layout) if c.name]
    if layout.classless:  # everything may be known
        names = [c.name for c in layout.columns if c.name]
    inside = [r.column for r in release.manifest.requirements if r.scope == "class"]
    judged = dict.fromkeys(
        c.name
        for c in layout.columns
        if c.role == "sensitive"
        and c.column in inside
        and c.name
        and c.bucket is None
        and c.column not in layout.tables
    )
    return assess_opened(
        opened,
        "release",
        quasi=[name for name in names if name],
        sensitive=[name for name in judged if name],
        person=layout.person_id,
        combined=0,
    )


def _rows_differ(opened: AssessedTable, columns: Sequence[str], person: str) -> bool:
    """True if any person's rows differ in quasi-identifiers. Creates the classes of persons."""
    _stage(opened, columns, person, without=None)
    found = opened.engine.raw(f"select coalesce(max(tuples), 0) > 1 from {ident(KNOWN)}", "report")
    return bool(found[0][0])


def _stage(
    opened: AssessedTable, columns: Sequence[str], person: str, *, without: str | None
) -> None:
    left = [name for name in columns if name != without]
    opened.select(
        "report/person_classes",
        "report",
        person=ident(person),
        keys=[(opened.value(name), ident(f"q{i}")) for i, name in enumerate(left)],
        classes=KNOWN if without is None else ALONE,
    )


def _by_persons(opened: AssessedTable, columns: Sequence[str], person: str) -> Assessment:
    """The classes created by `_rows_differ`, and the unique persons without each column."""
    described = tuple(opened.engine.describe(ident(KNOWN).text, "report"))
    staged = AssessedTable(opened.engine, Relation(ident(KNOWN), KNOWN), described)
    found = assess_opened(staged, "source", quasi=["class"], person="person", combined=0)
    without: dict[str, Subset] = {}
    for name in columns if len(columns) > 1 else ():
        _stage(opened, columns, person, without=name)
        ((classes, k, alone, units),) = opened.select(
            "report/person_alone", "report", classes=ALONE
        )
        left = tuple(n for n in columns if n != name)
        without[name] = Subset(left, classes, k, alone, classes / units)
    alone = found.sizes.unique_persons or 0
    together = Combinations(0, (), alone, {}, without) if without else None
    return replace(found, quasi=tuple(columns), combinations=together)


def _about(found: Assessment) -> Assessment:
    """Round counts and shares of the source's classes, because they depend on hidden values."""

    def rounded(figures: Sizes | Risk, by: Callable[[Any], Any]) -> dict[str, Any]:
        return {
            name: value if name in EXACT or value is None else by(value)
            for name, value in asdict(figures).items()
        }

    counted = ("classes", "units")
    bins = [
        {name: about(n) if name in counted else n for name, n in size.items()}
        for size in found.size_bins
        if size["units"] >= FEWEST
    ]
    return replace(
        found,
        sizes=Sizes(**rounded(found.sizes, about)),
        risk=Risk(**rounded(found.risk, partial(about_share, units=found.sizes.units))),
        size_bins=bins,
        combinations=_about_columns(found.combinations),
    )


def _about_columns(found: Combinations | None) -> Combinations | None:
    """Rounded contribution of each column to uniqueness, without the single combinations."""
    if found is None:
        return None
    return replace(
        found,
        subsets=(),
        singled_out=about(found.singled_out),
        column_involved={name: about(n) for name, n in found.column_involved.items()},
        without={
            name: replace(
                subset, classes=about(subset.classes), singled_out=about(subset.singled_out)
            )
            for name, subset in found.without.items()
        },
    )


# Collect the content of a report: read and verify a release, and compare it with its source.


NOT_SHOWN = "-- this statement lists values; the manifest of the release has it"


FLOOR = 5
"""Fewest units of anything that is shown, if the policy has no k."""


QUERIES = 40


PREDICATES = 2


def collect(
    policy: AnyPolicy,
    database: str | Path | None = None,
    source: str | Path | None = None,
    *,
    attacks: bool = False,
    earlier: str | Path | None = None,
    share: float = SHARE,
    limits: Limits | None = None,
) -> Report:
    """Read and verify the release of `policy`, and compare it with its source if given.

    With several tables the figures are those of the persons' table, and of observers who know rows
    of the others. `database`: the release (default: publish.database). A source that is a file is
    found through the policy. `attacks`: run the attacks on a `share` of the source; `earlier`: also
    together with an earlier release. Raises NothingToCheckError if there is no release, PolicyError
    if attacks have no source.
    """
    path = release_file(policy, database, source)
    if policy.several:
        if earlier is not None:
            raise PolicyError.at("--earlier", "is not offered with several tables")
        return _report_of_tables(policy, path, source, limits)
    policy = policy.one_table("report")
    file = policy.source.file is not None
    alone = source is None and not (file and policy.source_path.is_file())
    if not attacks and earlier is None:
        attacked = None
    elif alone:
        hint = "anonymizer report POLICY --source DATABASE"
        raise PolicyError.at("--source", "is missing: attacks need the source", hint=hint)
    else:
        attacked = attack(policy, source, release=path, earlier=earlier, share=share, limits=limits)
    if alone:
        with open_release(policy, path, limits) as release:
            return _report_of(policy, release)
    with open_beside(policy, path, source, limits) as release:
        return replace(_report_of(policy, release), attacked=attacked)


def floor_of(policy: Policy) -> int:
    """Fewest units of anything that is shown."""
    return least_class(policy, otherwise=FLOOR)


def _report_of_tables(
    policy: SchemaPolicy, path: Path, source: str | Path | None, limits: Limits | None
) -> Report:
    with open_tables(policy, path, source, limits) as (release, tables, read):
        run_sql = release.engine.asking("report")
        after = observers_of_release(run_sql, tables, release.where)
        linked = TablesReport(tables.k, tuple(figures_of_tables(release, tables)), after, ())
        if read is not None:
            before = tuple(one.rounded() for one in in_source(run_sql, tables, read))
            linked = replace(linked, before=before)
            release = beside(policy.lead, release, read.session)
        return replace(_report_of(policy, release), linked=linked)


def _report_of(asked: AnyPolicy, release: Published) -> Report:
    policy, manifest = asked.lead, release.manifest
    floor = floor_of(policy)
    unit = unit_of(asked)
    source = release if isinstance(release, Beside) else None
    warnings = [*_warnings(asked, release)]
    if not asked.several:
        warnings += _remarks(policy, release)
    verification = _verify_again(policy, release)
    if verification.passed:
        refuse_other_figures(release.engine, release.view, manifest, verification)
    warnings += [f"not checked here: {n.name} {n.reason}" for n in verification.not_checked]
    counts: RoundedErrors | None = None
    workload: list[Answer] = []
    if source is not None:
        tables = QueryTables(work)
        staged = stage(source.run_sql, source.view, release.layout, source.originals, None, tables)
        by_column = {a.column.column: a for a in staged}
        shown = [
            compared(source, c, by_column.get(c.column), floor) for c in release.layout.columns
        ]
        try:
            # (without classes no cell covers several values)
            if not release.layout.classless:
                draws = Draws(QUERIES, PREDICATES, 1, enough(floor), policy.person is not None)
                counts = rounded_errors(source.run_sql, tables, staged, draws)
        except AnonymizerError as error:
            warnings += [str(problem) for problem in error.problems]
    else:
        shown = [alone(release, c, floor) for c in release.layout.columns]
    if policy.workload is not None and source is not None:
        workload = run_workload(policy, source, enough(floor))
    return Report(
        policy=policy,
        manifest=without_values(manifest.data, release.tables),
        verification=without_listed(verification, release.tables),
        floor=floor,
        unit=unit,
        columns=tuple(
            columns_of_tables(asked) if asked.several else column_sentences(policy, release.layout)
        ),
        guarantees=tuple(guarantee_sentence(r, unit) for r in required(release)) or (NO_GUARANTEE,),
        before=before(policy, source) if source is not None else None,
        after=after(release),
        distributions=tuple(found for found in shown if found.bars),
        counts=counts,
        workload=tuple(workload),
        warnings=tuple(warnings),
        attacks=tuple(manifest.data.get("known_attacks") or known_attacks(asked)),
        certificate=stated_certificate(manifest),
        little=little_left(manifest.data["measures"]),
    )


def without_values(manifest: Mapping[str, Any], tables: Tables | None = None) -> dict[str, Any]:
    """A manifest without the values that a guarantee may list (levels, paths, one value)."""
    found = deepcopy(dict(manifest))
    further = found.get("tables", {}).get("tables", ())
    for requirement in chain(found["requirements"], *(one["requirements"] for one in further)):
        for name in LISTS_VALUES:
            requirement["parameters"].pop(name, None)
    listed = _listed(tables)
    for check in found["verification"]["checks"]:
        named = (check["name"], check["column"])
        if _lists_values(check["name"], check["required"]) or named in listed:
            check["sql"] = NOT_SHOWN
    return found


def _verify_again(policy: Policy, release: Published) -> Verification:
    """Verify the release again, also against the population if its source is available."""
    population: Members | str
    if not isinstance(release, Beside):
        population = members_at_hand(policy, release.engine, release.layout)
    else:
        Executor(release.engine).run(population_steps(policy, release.session, release.roles))
        population = members_read(policy, release.roles, release.originals)
    requirements = release.manifest.requirements
    judged = judge(release.engine, release.view, release.layout, requirements, population)
    if release.tables is not None:
        judged += judge_tables(release.engine, release.tables, release.where)
    return judged


def without_listed(verification: Verification, tables: Tables | None = None) -> Verification:
    """The checks, without the SQL of those that list values."""
    listed = _listed(tables)
    checks = (
        replace(c, sql=NOT_SHOWN)
        if _lists_values(c.name, c.required) or (c.name, c.column) in listed
        else c
        for c in verification.checks
    )
    return replace(verification, checks=tuple(checks))


def _listed(tables: Tables | None) -> set[tuple[str, str | None]]:
    """The checks of several tables whose requirements list values."""
    asked = [(item, item.column) for item in (tables.required if tables is not None else ())]
    for one in tables.children if tables is not None else ():
        asked += [(item, f"{one.table}.{item.column}") for item in one.requirements]
    return {
        (f"{known}{item.name}", column)
        for item, column in asked
        for known in ("", "known_")
        if item.parameters.keys() & LISTS_VALUES
    }


def _lists_values(name: str, required: Any) -> bool:
    guarantee = BY_NAME.get(name)
    lists = guarantee.lists_values if guarantee is not None else None
    try:
        return lists is not None and lists(required)
    except (LookupError, TypeError):  # for a failed check, a manifest may contain anything
        return True


def _warnings(policy: AnyPolicy, release: Published) -> Iterator[str]:
    data = release.manifest.data
    if data.get("reproducible"):
        yield "made with a test seed: not for publication"
    if data.get("policy_digest") != policy.digest():
        yield "the policy has changed since the release was made: its words below are the new ones"
    if policy.publish.database is None:
        yield "the release is in the file of the raw table, where a view protects nothing"


def _remarks(policy: Policy, release: Published) -> list[str]:
    """The warnings of a run, without counts of what is not published."""
    kinds = {c.column: c.kind for c in release.layout.columns if c.role in ("quasi", "semi")}
    notes = repeats(policy, release.session) if isinstance(release, Beside) else {}
    return [*remarks(policy, notes, kinds, counts=False), *_unique_values(policy, release)]


def _unique_values(policy: Policy, release: Published) -> Iterator[str]:
    """Warnings of sensitive columns whose published values nobody shares, as those of a run."""
    if policy.algorithm.values_in != "class":
        return
    for c in release.layout.columns:
        if c.role == "sensitive" and c.name is not None and c.bucket is None:
            value = ident(c.name)
            ((known, single),) = release.run_sql(
                "select coalesce(sum(n), 0), count(*) filter (where n = 1) from (select"
                f" count(*) as n from {ident(release.view)} where {value} is not null"
                f" group by {value})"
            )
            found = {"known": int(known), "single": int(single)}
            if nearly_unique(policy, c.column, found):
                yield unique_remark(policy, c.column, found)
