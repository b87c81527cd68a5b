"""The effect of a change of policy, without publishing: trials of both policies, compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import AnyPolicy
from anonymizer.policy.columns import Column
from anonymizer.policy.paths import table_path
from anonymizer.policy.schema import SchemaTable
from anonymizer.process.secret import Seed
from anonymizer.process.text import figure, printable, table
from anonymizer.review.trial import Figures, Named, required_of, trial

# Comparison of two policies: roles, options, guarantees, and the results of trial runs.


APART = ("version", "columns", "privacy", "tables", "links")
"""Parts of a policy, or of one of its tables, that are compared separately."""
ROLES = "identifier, quasi, sensitive, keep, drop"
PARTS = ("tables", "roles", "settings", "required", "achieved", "figures", "losses", "observers")
DEFAULTS = {
    name: [] if field.default == () else field.default
    for form in (Column, SchemaTable)
    for name, field in form.model_fields.items()
}
OF_TABLES = "key, identifier, quasi (of the persons), event (of others), sensitive, keep, drop"


@dataclass(frozen=True, slots=True)
class Change:
    """One item under the old and the new policy; None if that policy lacks it."""

    what: str
    old: Any
    new: Any

    @property
    def changed(self) -> bool:
        return bool(self.old != self.new)

    def as_dict(self) -> dict[str, Any]:
        return {"what": self.what, "old": self.old, "new": self.new, "changed": self.changed}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Changes, and what stays the same, from the old policy to the new one."""

    tables: tuple[Change, ...]
    """The parent of each of several tables; None: the policy has no table of this name."""
    roles: tuple[Change, ...]
    """The role of every column of either policy or of the source; None: not classified. With
    several tables, columns are named with their table, here and below."""
    settings: tuple[Change, ...]
    """Other differences, by their path in the policy."""
    required: tuple[Change, ...]
    """Guarantees with their parameters."""
    achieved: tuple[Change, ...]
    """The figure that a run achieves for each guarantee."""
    figures: tuple[Change, ...]
    """Rows, suppression, loss and risk."""
    losses: tuple[Change, ...]
    """Mean NCP of each quasi-identifier and of each event column."""
    observers: tuple[Change, ...]
    """For several tables: persons found by observers who know some of their rows. "Too few
    candidates" means fewer than the new policy's k, on both sides."""
    unclassified: tuple[str, ...]
    """Columns of the source that neither policy classifies."""
    old: Figures
    new: Figures

    def as_dict(self) -> dict[str, Any]:
        parts = {name: [change.as_dict() for change in getattr(self, name)] for name in PARTS}
        return {
            **parts,
            "unclassified": list(self.unclassified),
            **{
                name: {
                    "runs": found.runs,
                    "holds": found.holds,
                    "replaces": list(found.replaces),
                    "problems": [problem.as_dict() for problem in found.problems],
                }
                for name, found in (("old", self.old), ("new", self.new))
            },
        }

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems that prevent the new policy from being accepted."""
        paths = {**self.old.columns, **self.new.columns}
        lacking = tuple(
            Problem(
                paths[name],
                "is a column of the source that no policy classifies",
                allowed=OF_TABLES if self.tables else ROLES,
                hint="give it a role in the new policy",
            )
            for name in self.unclassified
        )
        said = {paths[name] for name in self.unclassified}
        return lacking + tuple(p for p in self.new.problems if p.path not in said)


def compare(
    policy: AnyPolicy,
    database: Database = None,
    *,
    other: AnyPolicy,
    seed: Seed | None = None,
    limits: Limits | None = None,
) -> Comparison:
    """Run a policy and an `other` in its place in scratch, with the same draws; writes nothing.

    Raises PolicyError if only one of them is a policy of several tables.
    """
    old, new = policy, other
    for given in (old, new):
        if given.counts is not None:
            given.one_table("compare")
    if old.several != new.several:
        one, several = ("NEW", "OLD") if old.several else ("OLD", "NEW")
        said = f"is of one table, and {several} of several: their figures are not comparable"
        hint = "write its table under tables as well (person: t, tables: {t: ...})"
        raise PolicyError.at(one, said, hint=hint)
    drawn = seed or Seed.fresh()
    below = new.privacy.k_anonymity
    before, after = (trial(policy, database, drawn, limits, below=below) for policy in (old, new))
    return comparison_of(old, new, before, after)


def comparison_of(old: AnyPolicy, new: AnyPolicy, before: Figures, after: Figures) -> Comparison:
    """Compare two policies by trials that have already been run."""
    source = dict.fromkeys((*after.columns, *before.columns))
    below = new.privacy.k_anonymity
    observers = (
        dict(_candidates(found, below or policy.privacy.k_anonymity))
        for policy, found in ((old, before), (new, after))
    )
    return Comparison(
        tables=tuple(_pairs(_tables(old), _tables(new))),
        roles=tuple(_roles(old, new, list(source))),
        settings=tuple(_settings(old, new)),
        required=tuple(_pairs(_required(old), _required(new))),
        achieved=tuple(_pairs(dict(_achieved(old, before)), dict(_achieved(new, after)))),
        figures=tuple(_pairs(dict(_figures(old, before)), dict(_figures(new, after)))),
        losses=tuple(_pairs(before.losses, after.losses)),
        observers=tuple(_pairs(*observers)),
        unclassified=tuple(
            name for name in source if not (_classified(old, name) or _classified(new, name))
        ),
        old=before,
        new=after,
    )


def _pairs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*old, *new)):
        yield Change(name, old.get(name), new.get(name))


def _tables(policy: AnyPolicy) -> dict[str, str]:
    """Every table of a policy with several tables, and its parent."""
    return {
        name: "one row per person" if table.link is None else " -> ".join(table.link)
        for name, table in policy.tables.items()
    }


def _columns(policy: AnyPolicy) -> dict[str, str]:
    """Every column with its role."""
    return {name: column.role for name, _, column in policy.described}


def _classified(policy: AnyPolicy, column: str) -> bool:
    return column.lower() in {name.lower() for name in _columns(policy)}


def _roles(old: AnyPolicy, new: AnyPolicy, source: list[str]) -> Iterator[Change]:
    before, after = _columns(old), _columns(new)
    sides = [{name.lower(): role for name, role in c.items()} for c in (before, after)]
    named = {name.lower(): name for name in (*before, *after, *source)}
    for name in dict.fromkeys(name.lower() for name in (*after, *before, *source)):
        yield Change(named[name], sides[0].get(name), sides[1].get(name))


def _settings(old: AnyPolicy, new: AnyPolicy) -> Iterator[Change]:
    """Options that differ, without roles, links and guarantees, which are compared separately."""
    for change in _pairs(*(dict(_options(policy)) for policy in (old, new))):
        if change.changed and not _default_alone(change):
            yield change


def _default_alone(change: Change) -> bool:
    """Return whether a default appears or disappears only because its table or column does."""
    value = change.new if change.old is None else change.old
    alone = change.old is None or change.new is None
    return alone and value == DEFAULTS.get(change.what.rpartition(".")[2])


def _options(policy: AnyPolicy) -> Iterator[tuple[str, Any]]:
    content = policy.to_dict()
    yield "kind", policy.release_kind
    yield from _of_table(content, "")
    for name, part in content.get("tables", {}).items():
        yield from _of_table(part, f"{table_path(name)}.")


def _of_table(content: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for name, part in content.items():
        if name not in APART:
            yield from _leaves(part, f"{path}{name}")
    for name, column in content.get("columns", {}).items():
        rest = {key: value for key, value in column.items() if key not in ("role", "protect")}
        yield from _leaves(rest, f"{path}columns.{name}")


def _leaves(part: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(part, Mapping):
        for name, value in part.items():
            yield from _leaves(value, f"{path}.{name}")
    else:
        yield path, part


def _guarantee(named: Named) -> str:
    name, column = named
    return f"{name} ({column})" if column else name


def _required(policy: AnyPolicy) -> dict[str, Any]:
    found = {_guarantee(named): asked for named, asked in required_of(policy).items()}
    return found | {"suppression limit": policy.lead.suppression_limit}


def _achieved(policy: AnyPolicy, found: Figures) -> Iterator[tuple[str, Any]]:
    """Figure and verdict of every guarantee, without the checks of form."""
    required = required_of(policy)
    for check in found.checks:
        column = check.column
        if column is not None and not column.startswith(tuple(f"{t}." for t in policy.children)):
            column = policy.prefix + column
        if (check.name, column) in required:
            verdict = {"reaches": check.achieved, "holds": check.passed}
            yield _guarantee((check.name, column)), verdict


def _figures(policy: AnyPolicy, found: Figures) -> Iterator[tuple[str, Any]]:
    """Rows, suppression, loss and risk of the table, or of each of several tables."""
    if not found.runs:
        return
    if policy.several:
        yield "persons published", found.published
        yield "persons suppressed", found.suppressed
    else:
        yield "rows published", found.measures["rows"]
    yield "suppressed (share)", found.share
    if found.classes is not None:
        yield "classes", found.classes
        yield f"smallest class ({found.unit})", found.smallest
        yield "loss per cell (NCP)", found.loss
        yield "mean risk", found.risk
        yield "largest risk", found.largest_risk
    for name, one in found.others.items():
        yield f"{name}: rows published", one["rows"]
        yield f"{name}: rows left out", one["suppressed"]
        if "orphans" in one:
            yield f"{name}: rows that reach nobody", one["orphans"]


def _candidates(found: Figures, below: int | None) -> Iterator[tuple[str, int]]:
    """Persons whom observers with some knowledge find, or nearly find."""
    for one in found.observers:
        yield f"{one.knows}: alone", one.alone
        yield f"{one.knows}: fewer than {below} left", one.below


def meaning(old: AnyPolicy, new: AnyPolicy) -> tuple[Change, ...]:
    """Differences between two policies in tables, roles, options and guarantees. Runs nothing.

    Empty if no compared part differs.
    """
    if old.several != new.several:
        kinds = ["several tables" if p.several else "one table" for p in (old, new)]
        return (Change("tables", *kinds),)
    listed = (
        *_pairs(_tables(old), _tables(new)),
        *_roles(old, new, []),
        *_settings(old, new),
        *_pairs(_required(old), _required(new)),
    )
    return tuple(change for change in listed if change.changed)


# A comparison as tables, for a terminal and for a comment on a pull request.


HEAD = ("", "old", "new", "")


@dataclass(frozen=True, slots=True)
class Part:
    """One table with its title; `all_rows` includes unchanged rows."""

    title: str
    changes: Sequence[Change]
    all_rows: bool = False

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (change.what, short_text(change.old), short_text(change.new), _mark(change))
            for change in self.changes
            if self.all_rows or change.changed
        ]


def parts(found: Comparison) -> Iterator[Part]:
    """All tables that are not empty."""
    for part in (
        Part("tables", found.tables),
        Part("roles", found.roles),
        Part("settings", found.settings),
        Part("guarantees", found.required, all_rows=True),
        Part("reached", found.achieved, all_rows=True),
        Part("release", found.figures, all_rows=True),
        Part("loss per column (NCP, 0 exact, 1 nothing left)", found.losses, all_rows=True),
        Part("persons found by somebody who knows their class and", found.observers, all_rows=True),
    ):
        if part.rows:
            yield part


def short_text(value: Any) -> str:
    """One side of a change as a short text."""
    if isinstance(value, dict) and "holds" in value:
        return figure(value["reaches"]) + ("" if value["holds"] else " (does not hold)")
    return figure(value)


def _mark(change: Change) -> str:
    old, new = change.old, change.new
    if isinstance(old, dict) and isinstance(new, dict):
        old, new = old.get("reaches"), new.get("reaches")
    if not change.changed:
        return "="
    if isinstance(old, int | float) and isinstance(new, int | float):
        return f"{new - old:+.4g}"
    return "new" if old is None else "gone" if new is None else "changed"


def verdict(found: Comparison) -> str:
    """One line: whether the new policy can be used."""
    if found.unclassified:
        listed = ", ".join(found.unclassified)
        return f"The new policy cannot be taken: no policy classifies {listed}."
    if not found.new.runs:
        return "The new policy cannot run."
    if not found.new.holds:
        return "The new policy runs, and a guarantee or limit does not hold."
    compared = (*found.tables, *found.roles, *found.settings, *found.required)
    if not any(change.changed for change in compared):
        return "The policies are the same in everything that is compared."
    return "The new policy runs, and everything holds."


def text_lines(found: Comparison) -> Iterator[str]:
    """Lines for a terminal."""
    yield from _replaced(found)
    yield from _problems(found)
    yield verdict(found)
    for part in parts(found):
        yield ""
        yield part.title
        yield from table(HEAD, part.rows)


def _problems(found: Comparison) -> Iterator[str]:
    """The reasons why a policy cannot run; shown before the verdict, which depends on it."""
    for name, side in (("old", found.old), ("new", found.new)):
        for problem in side.problems:
            yield f"{name} policy: {problem}"


def markdown_lines(found: Comparison) -> Iterator[str]:
    """Lines for a comment on a pull request; names may contain any character."""
    for said in _replaced(found):
        yield f"**{cell(said)}**"
        yield ""
    yield "### What this change of policy does"
    yield ""
    lines = [f"- {cell(problem)}" for problem in _problems(found)]
    if lines:
        yield from lines
        yield ""
    yield cell(verdict(found))
    for part in parts(found):
        yield ""
        yield f"**{part.title}**"
        yield ""
        yield "| | old | new | |"
        yield "| --- | --- | --- | --- |"
        for row in part.rows:
            yield "| " + " | ".join(map(cell, row)) + " |"
    yield ""
    yield "Both policies were run aside, on the same data with the same draws; nothing was written."


def _replaced(found: Comparison) -> Iterator[str]:
    """Objects that a run would replace; shown before everything else."""
    for name, side in (("new", found.new), ("old", found.old)):
        for replaced in side.replaces:
            if name == "new" or replaced not in found.new.replaces:
                yield f"A run of the {name} policy replaces: {replaced}"


def cell(text: str) -> str:
    """Escape text so that Markdown shows it unchanged, on one line."""
    plain = printable(text, keep="")
    for char in "\\`*_{}[]<>#|":
        plain = plain.replace(char, "\\" + char)
    return plain
