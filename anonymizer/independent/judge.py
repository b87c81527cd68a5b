"""Judge a release: its form, then every guarantee of its manifest."""

from __future__ import annotations

from pathlib import Path

from anonymizer.independent import population
from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.fetch import read_file
from anonymizer.independent.form import form
from anonymizer.independent.guarantees import judge_requirement
from anonymizer.independent.layout import Requirement
from anonymizer.independent.release import Release, decode
from anonymizer.independent.result import Check, Judgement, NotChecked
from anonymizer.independent.rows import Opened, open_release
from anonymizer.independent.rules import Terms
from anonymizer.independent.schema import judge_tables

NEEDED = "needs the population, which is not part of the release"


def judge(
    path: str | Path,
    view: str | None = None,
    *,
    population_file: str | Path | None = None,
    population_person: str | None = None,
) -> Judgement:
    """Judge a release file, an export, or a folder with one. Raises UnreadableError."""
    opened = open_release(Path(path), view)
    members = None
    if population_file is not None:
        table = read_file(Path(population_file))
        members = population.members(table, opened.manifest.layout, population_person)
    return judge_opened(opened, members)


def judge_opened(opened: Opened, members: population.Members | None = None) -> Judgement:
    """Judge an opened release. Raises UnreadableError if there is nothing to judge."""
    manifest = opened.manifest
    if not opened.rows.rows:
        raise UnreadableError("release: has no rows")
    if not manifest.requirements and not manifest.classless:
        raise UnreadableError("manifest.requirements: promise nothing")
    ungrouped = manifest.layout.class_id is None and manifest.layout.group_id is None
    if ungrouped and not manifest.classless:
        raise UnreadableError("manifest.layout: has neither classes nor groups")
    release = decode(opened)
    checks = list(form(opened, release))
    left: list[NotChecked] = []
    for requirement in manifest.requirements:
        if requirement.name in population.PARAMETERS:
            found = _of_population(requirement, release, members)
            if isinstance(found, Check):
                checks.append(found)
            else:
                left.append(found)
        else:
            checks += judge_requirement(requirement, release)
    if manifest.linked is not None:
        checks += judge_tables(opened, manifest.linked, release)
    if left and len(left) == len(manifest.requirements):
        raise UnreadableError(
            f"release: nothing can be judged ({left[0].reason}; --population FILE names it)"
        )
    told = tuple(checks), tuple(left)
    return Judgement(manifest.view, len(release.rows), *told, kind=manifest.kind)


def _of_population(
    requirement: Requirement, release: Release, members: population.Members | None
) -> Check | NotChecked:
    terms = Terms(requirement)
    terms.only(*population.PARAMETERS[requirement.name])
    reason = population.unanswerable(release.layout) if members is not None else NEEDED
    if reason is not None or members is None:
        return NotChecked(requirement.name, reason or NEEDED)
    return population.judge(terms, release, members)
