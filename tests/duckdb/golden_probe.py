"""Renders the templates of steps, and tells which branches were taken and what was printed.

A statement is determined by its template, the branches taken and the values printed. So a digest of
the last two stands for a step's parameters, and the text of every branch shows the whole template.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import jinja2
from jinja2 import meta, nodes
from markupsafe import Markup

from anonymizer.compile import Statement
from anonymizer.compile.sql import Sql, environment, only_sql, variant
from anonymizer.steps import Step

START, NUMBERED, END, VALUE = "\ue000", "\ue001", "\ue002", "\ue003"
"""Marks in a rendering where the text of a branch starts and ends, and before a long value."""
MARK = re.compile(f"({START}[0-9]+{NUMBERED}|{END})")
LONG = 10
"""So many lines of the middle turns of a loop are told by their digest."""
SHORT = 60
"""Characters of a printed value that is a name or a number."""


@dataclass(frozen=True)
class Branch:
    """What a condition, loop or macro holds in one of its outcomes."""

    template: str
    number: int
    outcome: str
    tag: str
    """The line of the template in which it begins."""
    empty: bool
    """A condition without an else, where it does not hold."""

    def __str__(self) -> str:
        return self.tag if self.outcome == "body" else f"{self.tag} ... {{% else %}}"


@dataclass
class Taken:
    """A branch that was taken, with the text that it made and the branches inside."""

    branch: Branch
    text: str = ""
    inside: set[Branch] = field(default_factory=set)

    @property
    def shown(self) -> str:
        """The text without marks."""
        return _unmarked(self.text)

    @property
    def as_written(self) -> bool:
        """Nothing but names and short values are put into what the template has here."""
        return VALUE not in self.text and all(map(_repeats, self.inside))


@dataclass(frozen=True)
class Rendering:
    """One step as the probe saw it."""

    template: str
    statement: Statement
    text: str
    """The statement, with three turns of its long loops and a digest of the others."""
    taken: tuple[Taken, ...]
    """Every branch taken, outer ones before those inside."""
    digest: str
    """Of what the parameters decided: the branches taken and the values printed, in order."""
    as_written: bool
    """Nothing but names and short values are put into the template, alone or one after another."""


class Probe(jinja2.Environment):
    """The environment of all templates, with marks around the text of every branch."""

    def __init__(self) -> None:
        ours = environment()
        super().__init__(
            loader=ours.loader,
            undefined=ours.undefined,
            finalize=self._printed,
            autoescape=True,
            trim_blocks=ours.trim_blocks,
            lstrip_blocks=ours.lstrip_blocks,
            auto_reload=False,
            cache_size=-1,
        )
        self.filters = ours.filters
        self.globals = ours.globals
        self.branches: list[Branch] = []
        """All that there are, in the templates loaded so far."""
        self._values: list[str] = []
        self._names: dict[str, set[str]] = {}
        self._done: dict[tuple[int, str], tuple[Step, Rendering]] = {}

    def rendered(self, step: Step, dialect: str = "duckdb") -> Rendering:
        """The step's statement, which is also what the product renders."""
        template = variant(step.template, dialect)
        if (id(step), template) in self._done:
            return self._done[id(step), template][1]
        loaded = self.get_template(template)
        self._values.clear()
        marked = loaded.render(step.parameters).strip()
        statement = step.statement(dialect)
        assert _unmarked(marked).strip() == statement.text
        taken = tuple(self._taken(marked))
        decided = [f"{t.branch.number} {t.branch.outcome}" for t in taken] + self._values
        short = _shortened(marked)
        made = Rendering(
            template,
            statement,
            _unmarked(short).strip(),
            tuple(self._taken(short)),
            _digest("\0".join(decided)),
            VALUE not in marked and all(_repeats(t.branch) for t in taken),
        )
        self._done[id(step), template] = step, made
        return made

    def taken(self, template: str, parameters: Mapping[str, Any]) -> tuple[str, set[Branch]]:
        """The text that a template makes of parameters, and the branches that it takes."""
        marked = self.get_template(template).render(parameters).strip()
        self._values.clear()
        return _unmarked(marked).strip(), {taken.branch for taken in self._taken(marked)}

    def scalars(self, step: Step) -> Iterator[tuple[str, Any]]:
        """The parameters named in the step's template that can be told in a word."""
        if step.template not in self._names:
            tree = super()._parse(self.source(step.template), step.template, None)
            self._names[step.template] = meta.find_undeclared_variables(tree)
        for name in sorted(self._names[step.template] & step.parameters.keys()):
            value = step.parameters[name]
            told = value.text if isinstance(value, Sql) else value
            if isinstance(told, int | float) or (isinstance(told, str) and _short(told)):
                yield name, told

    def source(self, template: str) -> str:
        """The text of a template."""
        assert self.loader is not None
        return self.loader.get_source(self, template)[0]

    def macros(self, template: str) -> Iterator[str]:
        """The templates that a template takes macros from, and those that these do."""
        tree = super()._parse(self.source(template), template, None)
        for name in filter(None, meta.find_referenced_templates(tree)):
            yield from (name, *self.macros(name))

    def _taken(self, marked: str) -> Iterator[Taken]:
        found: list[Taken] = []
        around: list[Taken] = []
        for piece in MARK.split(marked):
            if piece.startswith(START):
                found.append(Taken(self.branches[int(piece[1:-1])]))
                for outer in around:
                    outer.inside.add(found[-1].branch)
                around.append(found[-1])
            elif piece == END:
                around.pop()
            else:
                for outer in around:
                    outer.text += piece
        return iter(found)

    @staticmethod
    @jinja2.pass_environment  # or constants would be printed ahead, when a template is compiled
    def _printed(probe: Probe, value: object) -> Markup:
        if not isinstance(value, Sql):
            return only_sql(value)
        probe._values.append(value.text)
        return Markup(VALUE * (len(value.text) > SHORT)) + only_sql(value)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        found: Iterator[Any] = tree.find_all((nodes.If, nodes.For, nodes.Macro))
        for number, node in enumerate(found):
            tag = source.splitlines()[node.lineno - 1].strip()
            bodies = {"body": node.body}
            if isinstance(node, nodes.If):
                bodies["else"] = node.else_
            for outcome, body in bodies.items():
                start = f"{START}{len(self.branches)}{NUMBERED}"
                self.branches.append(Branch(str(name), number, outcome, tag, not body))
                body.insert(0, nodes.Output([nodes.TemplateData(start)]))
                body.append(nodes.Output([nodes.TemplateData(END)]))
        return tree.set_environment(self)  # type: ignore[return-value]


def _repeats(branch: Branch) -> bool:
    """It is the body of a loop."""
    return branch.tag.startswith("{% for ")


def _unmarked(text: str) -> str:
    return MARK.sub("", text).replace(VALUE, "")


def _shortened(marked: str) -> str:
    """A rendering without the middle turns of long loops, unless some branch is in these alone."""
    around: list[list[str]] = [[]]
    for piece in MARK.split(marked):
        if piece == END:
            turn = _joined(around.pop()) + END
            around[-1].append(turn)
        elif piece.startswith(START):
            around.append([piece])
        else:
            around[-1].append(piece)
    return _joined(around[0])


def _joined(pieces: list[str]) -> str:
    text = ""
    for branch, group in groupby(filter(None, pieces), _branch):
        turns = list(group)
        middle, shown = "".join(turns[2:-1]), "".join((*turns[:2], turns[-1]))
        if branch and middle.count("\n") >= LONG and not _branches(middle) - _branches(shown):
            said = f"-- {len(turns) - 3} more turns, {_digest(_unmarked(middle))}\n"
            turns[2:-1] = [said if _unmarked(turns[1]).rstrip(" ").endswith("\n") else f"\n{said}"]
        text += "".join(turns)
    return text


def _branch(piece: str) -> str:
    """The mark with which a turn starts, empty for a text."""
    found = MARK.match(piece)
    return found[0] if found else ""


def _branches(text: str) -> set[str]:
    return set(MARK.findall(text))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _short(text: str) -> bool:
    return len(text) <= 30 and "\n" not in text
