"""Decide whether a release agrees with its manifest, and its figures with its rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.contract.checks import OF_SOURCE, Verification, turns
from anonymizer.contract.counts_layout import PRIVACY_LOSS
from anonymizer.contract.layout import Layout, quasi
from anonymizer.contract.reading import FIGURES, ReleasedTable, in_release
from anonymizer.contract.rounding import BOUNDS, NODES, finest
from anonymizer.engines.base import Engine
from anonymizer.errors import AnonymizerError, GuaranteeError, PolicyError, Problem
from anonymizer.guarantees.requirements import requirements_of, with_paths_of
from anonymizer.measure.loss import (
    as_published,
    column_losses,
    measure_groups,
    measure_release,
    of_nodes,
)
from anonymizer.measure.proofs import RECORDS, linked_below, proved_records
from anonymizer.policy import AnyPolicy, Policy, safe_harbor
from anonymizer.policy.columns import weights_given
from anonymizer.policy.paths import column_path, table_path, within
from anonymizer.release.across_tables import as_asked, released_tables, tables_unmet
from anonymizer.release.agreement import HINT, OTHER_NUMBER, disagreements, other_files
from anonymizer.release.certificate import known_attacks
from anonymizer.release.integrity import manifest_problems, refuse_unknown_columns
from anonymizer.release.judge import Suppression
from anonymizer.release.manifest import (
    CHANGED,
    LEVEL,
    Manifest,
    published_measures,
    stated_certificate,
)
from anonymizer.source.snapshot import coding
from anonymizer.verification.across_tables import tables_sql
from anonymizer.verification.counts_questions import checks_of_source, measures_sql
from anonymizer.verification.guarantees import (
    Members,
    of_source,
    population_questions,
    source_questions,
)
from anonymizer.verification.release import check_sql

# Figures that a manifest states: found again in the release, or named as unverified.


SAMPLE = "_sample"
OF_RUNS = (
    *BOUNDS,
    *(f"{bound}{SAMPLE}" for bound in BOUNDS),
    *("ncp_nodes", "ncp_sets", "lattice_nodes", "lattice_judged"),
    *("lattice_gap", "lattice_loss", "lattice_bound", "lattice_score"),
)
"""Measures that only the run could take, besides how many rows it left out."""
SHARES = ("ncp_sets", "lattice_gap")
COUNTS = ("lattice_nodes", "lattice_judged")
OF_SETS = ("ncp_nodes", "ncp_sets")
OF_LATTICE = (*COUNTS, "lattice_gap")
LEAST = ("lattice_loss", "lattice_bound")
OF_LEVELS = ("lattice_", "level.")
"""Prefixes of the measures of a search over levels."""
STATED = ("created", "reproducible", "versions")
"""Statements of a manifest about the run itself."""
CLOSE = 1e-9
"""Relative difference of two doubles that were summed in another order."""


def refuted(stated: Mapping[str, Any], levels: set[str]) -> Iterator[tuple[str, str]]:
    """Measures of the run that the other ones contradict, and what is wrong with them.

    Losses and rows were compared with the release before. `levels`: names of levels of hierarchies.
    """
    for bound, loss in BOUNDS.items():
        yield from _of_bound(stated, bound, loss)
    for name in stated.keys() & {*SHARES}:
        if not _within(stated[name], 1):
            yield name, "is no share"
    for name in stated.keys() & {*COUNTS, *levels}:
        if not _within(stated[name]) or number(stated[name]) % 1:
            yield name, "is no count"
    if not _within(stated.get("lattice_loss", 0)):
        yield "lattice_loss", "is no loss"
    elif not _within(stated.get("lattice_bound", 0), stated.get("lattice_loss", math.inf)):
        yield "lattice_bound", "is no lower bound of lattice_loss"
    if stated.get("ncp_nodes", stated.get("ncp")) != stated.get("ncp"):
        yield "ncp_nodes", "is not the ncp of the release"


def _of_bound(stated: Mapping[str, Any], bound: str, loss: str) -> Iterator[tuple[str, str]]:
    """A release is a grouping into classes, too: no bound is above its loss."""
    sample = f"{bound}{SAMPLE}"
    if (bound in stated) != (sample in stated):
        yield bound, f"is stated without {sample}, or the other way round"
    elif bound in stated and not _within(stated[bound], stated.get(loss, 0)):
        yield bound, f"is above the {loss} of the release, or is no loss"
    elif bound in stated and not _within(stated[sample], stated["rows"] + stated["suppressed"]):
        yield sample, "is no number of rows"


def _within(value: Any, most: Any = math.inf) -> bool:
    """Return whether a figure is between 0 and another one."""
    found, end = number(value), number(most)
    return 0 <= found <= end * (1 + CLOSE)


def number(value: Any) -> float | int:
    """A figure, or NaN; a manifest writes a decimal of some engine, and an infinity, as text."""
    if isinstance(value, int | float):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


OF_CLASSES = frozenset({"classes", "class_min", "class_mean", "class_max", "c_dm", "ncp", "glm"})
"""Measures that a release without classes does not have."""
LEFT_OUT = ("suppressed", "suppressed_persons", "suppressed_share", "counterfeits")
LEFT_OUT_OF_TABLES = frozenset({"suppressed", "orphans"})
TIMES = ("seconds_anonymizing", "seconds_judging")


def refuse_other_figures(
    engine: Engine, view: Table, manifest: Manifest, found: Verification
) -> None:
    """Raises GuaranteeError for figures of the manifest that the release does not have."""
    problems = [*other_checks(manifest, found), *_other_measures(engine, view, manifest)]
    GuaranteeError.refuse(problems)


def other_checks(
    manifest: Manifest, found: Verification, *, population: bool = False
) -> Iterator[Problem]:
    """Checks that the manifest states otherwise than they were made again, or that are none.

    `population`: figures of a population too; `verify` may have been given a later one.
    """
    numbers = turns((check.name, check.column) for check in found.checks)
    now = dict(zip(numbers, found.checks, strict=True))
    listed = manifest.data["verification"]
    if listed["passed"] is not True or not all(one["passed"] for one in listed["checks"]):
        yield changed("manifest.verification", "does not say that the release passed")
    known = required_of_population(manifest) | required_of_source(manifest)
    about = {None, *_columns(manifest)}
    told = turns((one["name"], one["column"]) for one in listed["checks"])
    for name, column in required_of_source(manifest).keys() - {
        (one["name"], one["column"]) for one in listed["checks"]
    }:
        path = ".".join(filter(None, ("manifest.verification", name, column)))
        yield changed(path, "is required, and no check of it is stated")
    for turn, stated in zip(told, listed["checks"], strict=True):
        check, (name, column, _) = now.get(turn), turn
        path = ".".join(filter(None, ("manifest.verification", name, column)))
        if check is not None and (population or stated["sql"] is not None):
            again = plain({one: getattr(check, one) for one in FIGURES})
            same = _same({one: stated[one] for one in FIGURES}, again)
            if not same or stated["passed"] is not check.passed:
                yield changed(path, "states other figures than the release has")
        elif (name, column) in known:
            if not _same(stated["required"], known[name, column]) or stated["failing"] != 0:
                yield changed(path, "states other figures than its requirement has")
        elif (
            name not in OF_SOURCE
            or column not in about
            or any(stated[one] not in (0, None) for one in FIGURES)
        ):
            yield changed(path, "is no check that the release or its source can have passed")


def _columns(manifest: Manifest) -> Iterator[str]:
    """Possible subjects of a check: a column, or a further table or a column of it."""
    yield from (column.column for column in manifest.layout.columns)
    tables = released_tables(manifest)
    for one in tables.tables if tables is not None else ():
        yield one.table
        yield from (f"{one.table}.{column.column}" for column in one.layout.columns)


def required_of_population(manifest: Manifest) -> dict[tuple[str, str | None], Any]:
    """Requirements of the checks that only a population can answer."""
    table, layout = Table(str(manifest.data["view"])), manifest.layout
    nobody = Members(table, {column.column: column.column for column in layout.columns})
    asked = population_questions(table, layout, manifest.requirements, nobody)
    return {(one.name, one.column): plain([one.required])[0] for one in asked}


def required_of_source(manifest: Manifest) -> dict[tuple[str, str | None], Any]:
    """Requirements of the checks that only the run can answer."""
    items = of_source(manifest.requirements)
    units = {str(item.column): "" for item in items}
    groups = {"link": Table(str(manifest.data["view"]))}
    asked = source_questions(items, units, groups)
    return {(one.name, one.column): plain([one.required])[0] for one in asked}


def unverified(manifest: Manifest) -> tuple[str, ...]:
    """Statements of a manifest that cannot be found again in the release: only the run knew it."""
    measures, layout = manifest.data["measures"], manifest.layout
    if layout.counts is not None:
        exact = checks_of_source(layout.algorithm, manifest.requirements)
        noise = (PRIVACY_LOSS,) if layout.counts.noise is not None else ()
        return tuple(sorted({*exact, *noise, *STATED}))
    found = measures.keys() & {*LEFT_OUT, *OF_RUNS, *_levels(layout), *of_nodes(layout)}
    tables = released_tables(manifest)
    for one in tables.children if tables is not None else ():
        told = measures["tables"][one.table]
        hidden = of_nodes(one.layout) & {f"ncp.{name}" for name in told["ncp"]}
        names = told.keys() & LEFT_OUT_OF_TABLES | hidden
        found |= {f"{table_path(one.table)}.{name}" for name in names}
    checks = {one["name"] for one in manifest.data["verification"]["checks"]} & OF_SOURCE
    return tuple(sorted(found | checks | {*STATED}))


def _other_measures(engine: Engine, view: Table, manifest: Manifest) -> Iterator[Problem]:
    """Measures that the release does not have, and any that no run states."""
    stated, layout = manifest.data["measures"], manifest.layout
    if layout.counts is not None:
        ((rows, left_out),) = engine.raw(measures_sql(view, layout.counts), "measures")
        if stated != {"rows": rows, "suppressed": left_out}:
            yield changed("manifest.measures", "are not those of the release")
        return
    again, hidden = _measured_again(engine, view, manifest), of_nodes(layout)
    of_run = {*LEFT_OUT, *OF_RUNS, *TIMES, *_levels(layout)}
    of_run |= {"tables"} if "tables" in manifest.data else set()
    for name in sorted(stated.keys() - again.keys() - of_run):
        classes = layout.classless and name in OF_CLASSES
        said = "is of classes, and the release has none" if classes else "is none of a run"
        yield changed(f"manifest.measures.{name}", said)
    for name, value in again.items():
        figure = stated.get(name)
        same = _may_lose(name, figure, value, again) if name in hidden else _same(figure, value)
        if not same:
            yield changed(f"manifest.measures.{name}", "is not what the release has")
    yield from _missing_measures(stated, layout)
    for name, said in refuted(stated, _levels(layout)):
        yield changed(f"manifest.measures.{name}", said)
    tables = released_tables(manifest)
    for one in tables.children if tables is not None else ():
        yield from _other_measures_of(engine, in_release(view)(one), one, stated["tables"])


def _missing_measures(stated: Mapping[str, Any], layout: Layout) -> Iterator[Problem]:
    """Measures of the run that every run states of such a release, and this manifest does not."""
    always = {*TIMES}
    if layout.of_persons:
        always.add("suppressed_persons")
    # (nodes are compared with the sets of values in each class)
    in_sets = (column.hierarchy and column.kind == "categorical" for column in quasi(layout))
    if layout.class_id is not None and any(in_sets):
        always |= {*OF_SETS}
    if layout.algorithm == "full_domain" or any(name.startswith(OF_LEVELS) for name in stated):
        always |= {*OF_LATTICE}
    if stated.keys() & {*LEAST}:
        always |= {*LEAST}
    for name in sorted(always - stated.keys()):
        yield changed(f"manifest.measures.{name}", "is not stated, and every such run states it")


def _measured_again(engine: Engine, view: Table, manifest: Manifest) -> dict[str, Any]:
    """Compute measures again from the release and the stated number of rows (persons) left out."""
    stated, layout = manifest.data["measures"], manifest.layout
    run_sql = engine.asking("measures")
    left_out = stated["suppressed"]
    shown = as_published(view, layout)
    again: dict[str, Any] = dict(measure_release(run_sql, view, layout, shown, suppressed=left_out))
    again |= proved_records(run_sql, view, layout, shown, manifest.requirements)
    tables = released_tables(manifest)
    if tables is not None:
        again |= linked_below(run_sql, tables, in_release(view))
    if layout.group_id is not None:
        lost = suppression_stated(manifest).suppressed
        again |= measure_groups(run_sql, view, layout, manifest.requirements, suppressed=lost)
    again["suppressed_share"] = suppression_stated(manifest).share
    return dict(plain(again))


def suppression_stated(manifest: Manifest) -> Suppression:
    """The suppressed part of the source, by the counts of a manifest; counterfeits are no rows
    of it.
    """
    stated = manifest.data["measures"]
    unit = "persons" if "suppressed_persons" in stated else "rows"
    published = stated.get(unit, 0) - stated.get("counterfeits", 0)
    lost = stated.get("suppressed_persons", stated["suppressed"])
    return Suppression(unit, published + lost, published)


def _other_measures_of(
    engine: Engine, view: Table, one: ReleasedTable, told: Mapping[str, Any]
) -> Iterator[Problem]:
    """The same of a further table."""
    stated, path = told[one.table], f"manifest.measures.{table_path(one.table)}"
    run_sql = engine.asking("measures")
    (count,) = run_sql(f"select count(*) from {ident(view)}")[0]
    if stated["rows"] != count:
        yield changed(f"{path}.rows", "is not what the release has")
    for name in sorted(stated.keys() - {"rows", "ncp", *LEFT_OUT_OF_TABLES}):
        yield changed(f"{path}.{name}", "is none of a run")
    losses = column_losses(run_sql, view, one.layout, as_published(view, one.layout))
    hidden = of_nodes(one.layout)
    if stated["ncp"].keys() != {column.column for column in quasi(one.layout)}:
        yield changed(f"{path}.ncp", "is of other columns than the release has")
    for name, figure in stated["ncp"].items():
        least, of = losses.get(name, 0.0), f"ncp.{name}"
        same = _same(figure, round(least, 6))
        if not (_may_lose(of, figure, least, {"rows": count}) if of in hidden else same):
            yield changed(f"{path}.{of}", "is not what the release has")


def _levels(layout: Layout) -> set[str]:
    return {f"level.{column.column}" for column in quasi(layout)}


def _may_lose(name: str, figure: Any, least: Any, of: Mapping[str, Any]) -> bool:
    """True if a loss under nodes can be one: a share, or a sum of shares, and no less than what the
    release shows. It was told in steps (`contract.coarse`). Of complete records there are no more
    than if every label were a value.
    """
    found, summed = number(figure), name.endswith("_sum")
    if name == RECORDS:
        return 0 <= found <= least and found % 1 == 0
    if name.startswith("bucket_range."):
        least = 0
    step = float(finest(of.get("persons") or of["rows"])) * (of["qi_cells"] if summed else 1)
    return found >= 0 and found >= 0.99 * least - step and (found <= 1 or summed)


def _same(stated: Any, again: Any) -> bool:
    if isinstance(stated, Mapping) and isinstance(again, Mapping):
        return stated.keys() == again.keys() and all(_same(stated[n], again[n]) for n in again)
    if isinstance(stated, bool) or isinstance(again, bool):
        return stated is again
    one, other = number(stated), number(again)
    if not math.isnan(one) and not math.isnan(other):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(stated == again)


def plain(value: Any) -> Any:
    """As it is once it has been written to a manifest and read."""
    made = list(value) if not isinstance(value, Mapping) else value
    text = json.dumps(made, default=str)
    return json.loads(text, parse_constant=lambda name: str(float(name)))


def changed(path: str, said: str) -> Problem:
    """Statements of a manifest that this tool did not write."""
    return Problem(path, said, hint=CHANGED)


# Checks that a release agrees with its manifest, and the manifest with the policy.
#
# Every command that opens a release calls this: verify, report, attack and export.


OTHER_POLICY = "use the policy (and --preset) that the release was made with, or run again"
OTHER_VERSION = "it names another version: verify it with that one, or run again; or it was changed"
CLOCKS = timedelta(days=1)
"""Tolerated difference of the clocks of a publisher and a recipient."""
UNREADABLE = (
    *(AnonymizerError, ArithmeticError, AttributeError, LookupError),
    *(RuntimeError, TypeError, ValueError),
)
"""Errors that invalid parameters raise where a question is made of them."""


def refuse_changed(
    policy: AnyPolicy | None, view: Table, manifest: Manifest, changes: Iterable[Problem]
) -> None:
    """Raise GuaranteeError with everything that changed since publication.

    `changes`: differences between the seal and the release's objects. `refuse_other_policy` handles
    a policy of another digest, which may have been edited.
    """
    problems = [*_manifest_changes(policy, view, manifest), *changes]
    GuaranteeError.refuse(problems)


def refuse_not_as_published(
    policy: AnyPolicy, engine: Engine, view: Table, manifest: Manifest, changes: Iterable[Problem]
) -> None:
    """Make every check, to read a release without verifying it.

    Raises PolicyError if the policy has other columns, GuaranteeError for all other differences.
    """
    found = disagreements(policy.lead, manifest.layout)
    PolicyError.refuse(within(policy.person, found) if policy.several else found)
    tables = released_tables(manifest)
    if policy.several != (tables is not None):
        raise GuaranteeError.at("policy", OTHER_NUMBER, hint=HINT)
    if tables is not None:
        GuaranteeError.refuse(tables_unmet(policy, tables))
    refuse_unknown_columns(engine, view, manifest)
    refuse_changed(policy, view, manifest, changes)
    refuse_other_policy(policy, manifest)


def refuse_other_policy(policy: AnyPolicy, manifest: Manifest, *, holds: bool = False) -> None:
    """Raise GuaranteeError if the release was made with a policy of another digest, or if a file
    that the policy declares had another one.

    `holds`: the guarantees of this policy were verified and hold.
    """
    if manifest.data.get("policy_digest") != policy.digest():
        said = "is not the one that the release was made with: their digests differ"
        if holds:
            said += "; the guarantees that it asks for hold in the release"
        raise GuaranteeError.at("policy", said, hint=OTHER_POLICY)
    GuaranteeError.refuse(other_files(policy, manifest.data.get("files", {})))


def _manifest_changes(
    policy: AnyPolicy | None, view: Table, manifest: Manifest
) -> Iterator[Problem]:
    yield from manifest_problems(view, manifest)
    if manifest.data.get("certificate") != stated_certificate(manifest):
        yield changed("manifest.certificate", "is not the sentence that this tool writes")
    if datetime.fromisoformat(manifest.data["created"]) > datetime.now(UTC) + CLOCKS:
        said = "is in the future"
        yield Problem("manifest.created", said, hint=f"set the clock of this machine; or {CHANGED}")
    if policy is not None and manifest.kind != policy.release_kind:
        said = f"is {policy.release_kind} in the policy, and the release is {manifest.kind}"
        yield Problem("kind", said, hint=OTHER_POLICY)
    tables = released_tables(manifest)
    children = {one.table for one in tables.children} if tables is not None else set()
    if set(manifest.data["measures"].get("tables", {})) != children:
        yield changed("manifest.measures.tables", "are not those of the release")
    yield from _other_statements(view, manifest)
    if policy is not None and manifest.data.get("policy_digest") == policy.digest():
        yield from _other_demands(policy, manifest)


def _other_demands(of: AnyPolicy, manifest: Manifest) -> Iterator[Problem]:
    """Statements of the manifest that differ from the policy; needs no data."""
    policy, data = of.lead, manifest.data
    if of.counts is not None:
        required = requirements_of(policy)
        if manifest.layout.algorithm != of.counts.method or manifest.requirements != required:
            yield Problem("manifest.requirements", "are not those of the policy", hint=OTHER_POLICY)
        if data.get("known_attacks") != known_attacks(of):
            said = "are not those of the policy"
            yield Problem("manifest.known_attacks", said, hint=OTHER_POLICY)
        return
    asked = with_paths_of(requirements_of(policy), manifest.requirements)
    weights = {c.column: c.weight for c in manifest.layout.columns if c.weight is not None}
    alike = {c.column: c.like for c in manifest.layout.columns if c.like is not None}
    like_given = {name: of.like for name, of in policy.columns.items() if of.like is not None}
    stated = safe_harbor.stated(of) if safe_harbor.applies(of) else None
    differs = {
        "tables": of.several and not as_asked(of, manifest),
        "requirements": plain(map(asdict, asked)) != plain(data["requirements"]),
        "layout": weights != weights_given(policy.columns) or alike != like_given,
        "safe_harbor": plain(stated or []) != (data.get("safe_harbor") or []),
        "algorithm": data.get("algorithm") != policy.algorithm.name,
        "known_attacks": data.get("known_attacks") != known_attacks(of),
    }
    for name in (name for name, other in differs.items() if other):
        said = "are not those of the policy" if name.endswith("s") else "is not that of the policy"
        yield Problem(f"manifest.{name}", said, hint=OTHER_POLICY)
    yield from _other_ends(of, manifest)
    if not suppression_stated(manifest).within(policy.suppression_limit):
        said = "is more than the policy's suppression_limit"
        yield Problem("manifest.measures.suppressed", said, hint=OTHER_POLICY)
    for name in sorted(_measured_by(policy, manifest) - data["measures"].keys()):
        said = "is not stated, and every run of the policy states it"
        yield Problem(f"manifest.measures.{name}", said, hint=OTHER_POLICY)


def _measured_by(policy: Policy, manifest: Manifest) -> set[str]:
    """Measures that a run states for what the policy asks, and no release shows."""
    made = {"counterfeits"} if policy.republish is not None and policy.republish.m else set()
    if NODES in manifest.data["measures"]:  # (over levels, an algorithm may find none)
        levels = dict.fromkeys((LEVEL + column.column for column in quasi(manifest.layout)), 0)
        made |= published_measures(levels, policy).keys()
    return made


def _other_ends(of: AnyPolicy, manifest: Manifest) -> Iterator[Problem]:
    """Columns with other top or bottom codes than the policy: they determine how cells are read."""
    tables = released_tables(manifest)
    layouts = {"": manifest.layout}
    if tables is not None:
        layouts = {f"{table_path(one.table)}.": one.layout for one in tables.tables}
    for path, policy in of.singles.items():
        for one in layouts[path].columns if path in layouts else ():
            generalized = one.role in ("quasi", "semi")
            spec = coding(policy, one.column, one.sql_type) if generalized else None
            asked = (spec.bottom, spec.top) if spec is not None else (None, None)
            if plain(asked) != [one.bottom, one.top]:
                said = "has intervals with other open ends in the manifest than in the policy"
                yield Problem(f"{path}{column_path(one.column)}", said, hint=OTHER_POLICY)


def _other_statements(view: Table, manifest: Manifest) -> Iterator[Problem]:
    """The SQL for recipients: a version knows what it writes itself, and what it can judge."""
    found = [
        {name: check[name] for name in ("name", "column", "sql")}
        for check in manifest.data["verification"]["checks"]
    ]
    try:
        bare = Table(view.name, view.schema)
        expected = check_sql(bare, manifest.layout, manifest.requirements)
        tables = released_tables(manifest)
        expected += tables_sql(tables, in_release(bare)) if tables is not None else []
        required_of_population(manifest)
        required_of_source(manifest)
    except UNREADABLE:
        yield changed("manifest.requirements", "are none that this tool asks for")
        return
    # (whatever version a manifest names: anybody can write that, and recipients run this SQL)
    if found[: len(expected)] != plain(expected):
        said = "has other SQL than the checks of this layout"
        yield Problem("manifest.verification", said, hint=_whose(manifest))
    if any(check["sql"] is not None for check in found[len(expected) :]):
        said = "has SQL of checks that no requirement asks for"
        yield Problem("manifest.verification", said, hint=_whose(manifest))


def _whose(manifest: Manifest) -> str:
    """A way on from SQL that this version does not write."""
    from anonymizer.version import __version__

    other = manifest.data["versions"].get("anonymizer") != __version__
    return OTHER_VERSION if other else CHANGED
