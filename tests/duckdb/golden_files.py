"""The golden files: whole plans, outlines, and what no whole plan shows of the templates.

`tests/golden/README.md` says how to read them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from anonymizer.compile import header
from anonymizer.compile.render import variant
from anonymizer.steps import Plan
from tests.duckdb.golden_outline import outline, steps
from tests.duckdb.golden_plans import all_plans
from tests.duckdb.golden_probe import Branch, Probe, Rendering
from tests.duckdb.golden_settings import WHOLE
from tests.duckdb.golden_shared import STATEMENT, STEP, digest_of, told_once, whole_once

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
DIALECTS = ("duckdb", "postgres", "spark")

READ = "-- lines that refer to other files are explained in tests/golden/README.md"
LONG = (
    "prepare/identifier_values.sql.j2",
    "prepare/suspects.sql.j2",
    "prepare/identifiers_in_text.sql.j2",
)
"""Templates whose statements hold every form of an identifier: whole plans refer to their files."""


@dataclass
class Golden:
    """The files by their paths below the folder, and what they show."""

    files: dict[str, str] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    probe: Probe = field(default_factory=Probe)
    templates: set[str] = field(default_factory=set)
    """Those of which a rendering is shown."""
    branches: set[Branch] = field(default_factory=set)
    """Those whose text is shown, or is the template's own with names put in."""
    as_written: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """By template, the texts of the latter."""


def golden(folder: Path) -> Golden:
    """All golden files, made in an empty folder.

    A template of which no whole plan holds a step is shown by its first rendering, unless that is
    its own text with names put in. Of every later rendering, what it has in branches that were not
    shown before is added to the template's file, by the same rule. Lines that were told before, or
    stand in the template, are not told again.
    """
    made = Golden()
    shown: dict[str, list[str]] = defaultdict(list)
    for name, plan in all_plans(folder):
        made.plans[name] = plan
        whole = name in WHOLE
        if whole:
            made.files[f"plans/{name}.sql"] = f"{READ}\n\n{_text(plan)}"
        else:
            made.files[f"outlines/{name}.txt"] = outline(plan, made.probe)
        for step in steps(plan.stages):
            where = f"{name}, {step.name}"
            for dialect in DIALECTS:
                if dialect == "duckdb" or variant(step.template, dialect) != step.template:
                    rendering = made.probe.rendered(step, dialect)
                    in_plan = whole and dialect == "duckdb" and step.template not in LONG
                    told = _shows(made, rendering, where, in_plan=in_plan)
                    shown[rendering.template] += told
    for template, texts in made.as_written.items():
        branches = "branch" if len(texts) == 1 else "branches"
        digest = digest_of("\n".join(texts).splitlines())
        shown[template].append(f"-- {len(texts)} {branches} as in the template, {digest}")
    for template, texts in shown.items():
        if texts:
            path = f"templates/{template.removesuffix('.j2')}"
            made.files[path] = "\n".join(texts) + "\n"
    outlines = {path: text for path, text in made.files.items() if path.endswith(".txt")}
    statements = {path: text for path, text in made.files.items() if path.endswith(".sql")}
    made.files.update(told_once(outlines, STEP, 3, across=True))
    statements = dict(whole_once(statements))
    made.files.update(
        told_once(
            statements, STATEMENT, 4, across=False, templates=lambda path: _sources(made, path)
        )
    )
    return made


def _sources(made: Golden, path: str) -> Mapping[str, str]:
    """The texts that the file of a template was made from: its own and those of its macros."""
    if not path.startswith("templates/"):
        return {}
    template = f"{path.removeprefix('templates/')}.j2"
    macros = made.probe.macros(template)
    return {"of the template": made.probe.source(template)} | {
        f"of {macro}": made.probe.source(macro) for macro in macros
    }


def _text(plan: Plan) -> str:
    """The statements of a plan, but for the longest."""
    text = plan.sql()
    for step in steps(plan.stages):
        if step.template in LONG:
            shown = f"-- as in templates/{step.template.removesuffix('.j2')}"
            text = text.replace(f"{step.statement().text};", shown)
    return text


def _shows(made: Golden, rendering: Rendering, where: str, *, in_plan: bool) -> Iterable[str]:
    """The lines that a rendering adds to the file of its template."""
    new = rendering.template not in made.templates
    made.templates.add(rendering.template)
    if new and not in_plan and not rendering.as_written:
        yield f"-- {where}: {header(rendering.template).purpose}"
        yield rendering.text
    for taken in rendering.taken:
        text = taken.shown.strip("\n")
        unseen = taken.branch not in made.branches and not new and not in_plan
        if unseen and taken.as_written and text.strip():
            made.as_written[rendering.template].append(text)
        elif unseen and text.strip():
            said = f"-- {where}: {taken.branch}"
            yield f"{said}\n{text}" if "\n" in text else f"{text.strip()}  {said}"
            made.branches |= taken.inside
        made.branches.add(taken.branch)
