"""Checks of guarantees and algorithms: what is required, and what it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import TYPE_CHECKING, Protocol

from anonymizer.errors import Problem
from anonymizer.policy.algorithms import AlgorithmOptions, Lgb, Msb
from anonymizer.policy.defaults import PRESETS
from anonymizer.policy.hierarchies import Divisor, Taxonomy
from anonymizer.policy.paths import closest, column_path, path_text

if TYPE_CHECKING:
    from anonymizer.policy.checks.columns import Table
    from anonymizer.policy.fields import PolicyFields
    from anonymizer.policy.privacy import Privacy, Protect
    from anonymizer.policy.schema import SchemaTable


# Checks of guarantees: what is required, and what it needs.


PAPER_LEVELS = "level_l: {0: 1, 1: 2, 2: 3}"


class Promising(Protocol):
    """The part of a policy, of one table or of several, that checks of guarantees need."""

    @property
    def privacy(self) -> Privacy: ...

    @property
    def person(self) -> str | None: ...

    @property
    def sensitive(self) -> Sized: ...


def some_guarantee(policy: PolicyFields) -> Iterator[Problem]:
    """A policy names at least one guarantee; there is no default."""
    if policy.algorithm.classless:
        return  # none is possible, and algorithms.none refuses all
    if not policy.privacy.guarantees and not any(c.protect for c in policy.columns.values()):
        yield Problem(
            "privacy",
            "names no guarantee, and no column is protected",
            hint="privacy: {k_anonymity: 5}, or preset: internal",
        )


def identity_reserved(policy: Promising) -> Iterator[Problem]:
    """The identity-reserved guarantees need a person, and all but one a sensitive column."""
    for name in policy.privacy.identity_reserved:
        path = f"privacy.{name}"
        if policy.person is None:
            yield Problem(path, "counts persons, and no person is named", hint="person: <column>")
        if name != "ir_k" and not policy.sensitive:
            hint = "give one column role: sensitive"
            yield Problem(path, "needs a sensitive column, and there is none", hint=hint)


def alpha_k(policy: Promising) -> Iterator[Problem]:
    """(alpha,k) needs a sensitive column to limit."""
    given = policy.privacy.alpha_k
    if given is None:
        return
    if not policy.sensitive:
        hint = "give one column role: sensitive"
        yield Problem("privacy.alpha_k", "needs a sensitive column, and there is none", hint=hint)
    if given.value is not None and len(policy.sensitive) > 1:
        yield Problem(
            "privacy.alpha_k.value",
            "does not say of which sensitive column it is a value",
            hint="leave value out, or protect the column itself: protect: {alpha: 0.5}",
        )


def units(policy: PolicyFields) -> Iterator[Problem]:
    """Further units are columns of the source that are not published, beside another guarantee."""
    asked = policy.privacy.units
    if asked is None:
        return
    for name, least in asked.items():
        path, column = path_text(("privacy", "units", name)), policy.columns.get(name)
        if column is None:
            hint = closest(name, policy.columns) or "list it there, as role: identifier"
            yield Problem(path, "is not a column listed under columns", hint=hint)
        elif column.role == "sensitive":
            said = "is published, and a sensitive column has l_diversity for its different values"
            hint = f"protect: {{l_diversity: {least}}}, or role: identifier"
            yield Problem(path, said, "a column with role identifier or drop", hint)
        elif column.role not in ("identifier", "drop"):
            said = f"is published by the role {column.role}, and only columns that are not count"
            hint = "role: identifier, or leave the unit out"
            yield Problem(path, said, "a column with role identifier or drop", hint)
        elif name in (policy.key, policy.person):
            of = "key" if name == policy.key else "person"
            said = f"is the {of}, and k_anonymity asks for that many in every class"
            yield Problem(path, said, hint=f"privacy: {{k_anonymity: {least}}}")
    others = (column.protect for column in policy.columns.values())
    if policy.privacy.guarantees == ("units",) and not any(others):
        said = "cannot be the only guarantee: a release does not show columns that it lacks"
        yield Problem("privacy.units", said, hint="add k_anonymity: 5")
    if policy.ledger is not None or policy.continues:
        said = "is kept in one release, and not in what several of them tell together"
        beside = "ledger" if policy.republish is None else "ledger and republish"
        yield Problem("privacy.units", said, hint=f"leave units out, or {beside}")


def levels(policy: PolicyFields) -> Iterator[Problem]:
    """The L_sl model: every used level has an l, and the algorithm is msb."""
    level_l = policy.privacy.level_l
    leveled = {
        name: column.protect
        for name, column in policy.columns.items()
        if column.protect is not None and column.protect.levels is not None
    }
    if level_l is not None and not leveled:
        hint = "protect: {levels: {1: […], 0: […]}, default_level: 1}"
        yield Problem("privacy.level_l", "has no column with levels", hint=hint)
    if leveled and level_l is None:
        said = "is missing: the levels of the columns need their l"
        yield Problem("privacy.level_l", said, hint=PAPER_LEVELS)
    for name, protect in leveled.items():
        path = column_path(name, "protect", "levels")
        if policy.algorithm.values_in != "group":
            said = f"is not supported by {policy.algorithm.name}"
            yield Problem(path, said, hint="algorithm: {name: msb}")
        if level_l is not None:
            for place in _without_l(protect, set(level_l)):
                path = column_path(name, "protect", *place)
                yield Problem(path, "is a level without an l", hint="add it to privacy.level_l")


def _without_l(protect: Protect, known: set[int]) -> Iterator[tuple[object, ...]]:
    for level in protect.levels or ():
        if level not in known:
            yield ("levels", level)
    if protect.default_level is not None and protect.default_level not in known:
        yield ("default_level",)


# Checks of what each algorithm needs from the rest of the policy.


EXAMPLES = {
    "numeric": "hierarchy: {builder: cardinality}",
    "date": "hierarchy: {builder: date}",
    "categorical": "hierarchy: {file: tree.csv}, or {builder: prefix} for codes",
}
UNKNOWN = "for example {builder: cardinality} for numbers, {builder: date}, {file: tree.csv}"

WHOLE = ", or algorithm: {name: full_domain}"


def quasi_needed(policy: PolicyFields) -> Iterator[Problem]:
    """All algorithms need quasi-identifiers, except those that separate sensitive values."""
    if policy.algorithm.classless:
        return
    if policy.columns and not policy.quasi and policy.algorithm.values_in != "group":
        said = f"has no quasi column, and {policy.algorithm.name} has nothing to generalize"
        yield Problem("columns", said, hint="give the columns that others may know role: quasi")


def none(policy: PolicyFields) -> Iterator[Problem]:
    """The algorithm `none` has no classes, so nothing can be generalized or guaranteed."""
    if not policy.algorithm.classless:
        return
    other = "another algorithm, as in algorithm: {name: mondrian}"
    unseen = ("identifier", "drop", "quasi")
    if policy.columns and all(column.role in unseen for column in policy.columns.values()):
        yield Problem("columns", "has no column that is published", hint="role: keep")
    for name in policy.quasi:
        said = "is quasi, and with the algorithm none nothing generalizes it"
        hint = f"role keep, a role that masks it, or {other}"
        yield Problem(column_path(name, "role"), said, hint=hint)
    said = "asks for a guarantee, and with the algorithm none there are no classes to keep it in"
    asked = [f"privacy.{name}" for name, value in policy.privacy if value is not None]
    asked += [column_path(n, "protect") for n, c in policy.columns.items() if c.protect is not None]
    # (a preset fills in guarantees that the policy does not state)
    for path in asked if policy.preset not in PRESETS else ["preset"]:
        yield Problem(path, said, hint=f"leave it out, or {other}")
    if policy.merge_person_rows:
        said = "has no quasi-identifiers to merge with the algorithm none"
        yield Problem("merge_person_rows", said, hint="leave it out")
    if policy.ledger is not None:
        said = "remembers classes, and with the algorithm none there are none"
        yield Problem("ledger", said, hint=f"leave it out, or {other}")


def hierarchies_needed(policy: PolicyFields) -> Iterator[Problem]:
    """Algorithms that publish hierarchy nodes need a hierarchy for every quasi-identifier."""
    if not policy.algorithm.over_levels:
        return
    for name in policy.quasi:
        column = policy.columns[name]
        if column.hierarchy is None:
            said = f"is missing: {policy.algorithm.name} generalizes along hierarchies"
            hint = EXAMPLES.get(column.kind or "", UNKNOWN)
            hint += "; anonymizer hierarchy suggest POLICY lists some that fit"
            yield Problem(column_path(name, "hierarchy"), said, hint=hint)


def levels_nest(policy: PolicyFields) -> Iterator[Problem]:
    """Levels that need not nest are for algorithms that generalize by whole levels.

    (privacyfrost and geneir check the built levels, and refuse those that do not nest.)
    """
    yield from unnested(policy, whole=policy.algorithm.over_levels)


def unnested(table: Table, *, whole: bool, otherwise: str = WHOLE) -> Iterator[Problem]:
    """Hierarchies with levels that need not nest; `whole`: whole levels are published."""
    for name, column in table.columns.items():
        spec = column.hierarchy
        if isinstance(spec, Divisor) and spec.mode == "independent":
            option, allowed, hint = "mode", "chain", "mode: chain"
        elif isinstance(spec, Taxonomy) and not spec.nested:
            option, allowed, hint = "nested", "true", "another hierarchy"
        else:
            continue
        if column.role == "sensitive" or not whole:
            said = "has levels that need not nest, and only full_domain publishes whole levels"
            path = column_path(name, "hierarchy", option)
            yield Problem(path, said, allowed, f"{hint}{otherwise}")


def refine(policy: PolicyFields) -> Iterator[Problem]:
    """The last pass knows sizes and values of classes, but not their persons."""
    if not getattr(policy.algorithm, "must_refine", False):
        return
    for name in (*policy.privacy.identity_reserved, *policy.privacy.populations):
        said = f"cannot exchange rows between classes under privacy.{name}"
        yield Problem("algorithm.refine", said, "auto, 0", "leave refine out")


def part_size(policy: PolicyFields) -> Iterator[Problem]:
    """Parts are for a table that is released once: later releases continue its classes."""
    if policy.algorithm.must_divide and policy.continues:
        said = "divides a table that is released once, and not later releases of it"
        yield Problem("algorithm.part_size", said, "auto, all", "leave part_size out")


def lgb(policy: PolicyFields) -> Iterator[Problem]:
    """The requirements of lgb besides its columns."""
    algorithm = policy.algorithm
    if not isinstance(algorithm, Lgb):
        return
    if policy.privacy.k_anonymity is None:
        said = "is missing: lgb forms classes of at least k rows"
        yield Problem("privacy.k_anonymity", said, hint="privacy: {k_anonymity: 5}")
    if algorithm.rebalance and algorithm.generalization != "ncp":
        of = "{ncp: literal}" if algorithm.literal else algorithm.generalization
        said = f"does not apply to the generalization {of}"
        yield Problem("algorithm.rebalance", said, hint="generalization: ncp")


def privacyfrost_columns(policy: PolicyFields) -> Iterator[Problem]:
    """Priorities and levels are for privacyfrost only."""
    if policy.algorithm.name == "privacyfrost":
        return
    for name, column in policy.columns.items():
        for option in ("priority", "minimum_level", "presampling_level"):
            if getattr(column, option) is not None:
                said = f"is an option of privacyfrost, not of {policy.algorithm.name}"
                hint = "algorithm: {name: privacyfrost}"
                yield Problem(column_path(name, option), said, hint=hint)


def weights(policy: PolicyFields) -> Iterator[Problem]:
    """Weights have an effect only where columns are compared by their loss."""
    yield from unweighted(policy, policy.algorithm)


def unweighted(table: PolicyFields | SchemaTable, algorithm: AlgorithmOptions) -> Iterator[Problem]:
    """The same for a table, with an algorithm."""
    hint = algorithm.unweighted
    for name in table.quasi if hint is not None else ():
        if table.columns[name].weight is not None:
            said = f"is of no effect: {algorithm.name} weighs no loss of columns as it is set"
            yield Problem(column_path(name, "weight"), said, hint=hint)


def persons_clustered(policy: PolicyFields) -> Iterator[Problem]:
    """Algorithms that cluster persons need an identity-reserved guarantee."""
    name = policy.algorithm.name
    if policy.algorithm.clusters_persons and not policy.privacy.identity_reserved:
        yield Problem(
            "privacy",
            f"names no identity-reserved guarantee, which {name} needs",
            "ir_k, ir_kl, ir_alpha_beta, eir_l, eir_alpha_beta",
            "privacy: {eir_l: 3}",
        )


def msb(policy: PolicyFields) -> Iterator[Problem]:
    """Plain variants need one common l, the security-level variants need levels for all columns."""
    algorithm = policy.algorithm
    if not isinstance(algorithm, Msb):
        return
    yield from _msb_table(policy, algorithm)
    rules = {name: policy.columns[name].protect for name in policy.sensitive}
    protected = {name: rule for name, rule in rules.items() if rule is not None}
    if not protected:
        said = "has no protected sensitive column, and msb has nothing to separate"
        yield Problem("columns", said, hint="role: sensitive, with protect: {l_diversity: 3}")
    first = algorithm.security_level_first
    for name, rule in protected.items():
        given = {option for option, value in rule if value is not None}
        for option in sorted(given - {"l_diversity", "levels", "default_level"}):
            path = column_path(name, "protect", option)
            yield Problem(path, "is not enforced by msb", "l_diversity, levels")
        if first and rule.levels is None:
            said = "is missing: security_level_first orders by levels"
            hint = "levels: {1: […], 0: […]}, default_level: 1"
            yield Problem(column_path(name, "protect", "levels"), said, hint=hint)
        if not first and rule.levels is not None:
            said = "needs security_level_first: true"
            yield Problem(column_path(name, "protect", "levels"), said)
        elif not first and rule.l_diversity is None:
            said = "is missing: without security levels msb needs one l for all columns"
            hint = "protect: {l_diversity: 3}"
            yield Problem(column_path(name, "protect", "l_diversity"), said, hint=hint)
        elif first and rule.levels is not None and rule.l_diversity is not None:
            said = "cannot be combined with levels: the levels decide l"
            yield Problem(column_path(name, "protect", "l_diversity"), said)
    wanted = {rule.l_diversity for rule in protected.values() if rule.l_diversity is not None}
    if not first and len(wanted) > 1:
        for name, rule in protected.items():
            if rule.l_diversity is not None:
                said = "differs between columns: without security levels msb needs one common l"
                hint = "the same l everywhere, or levels with security_level_first: true"
                yield Problem(column_path(name, "protect", "l_diversity"), said, hint=hint)


def _msb_table(policy: PolicyFields, algorithm: Msb) -> Iterator[Problem]:
    for name in policy.privacy.guarantees:
        if name != "k_anonymity":
            said = "is not enforced by msb, which separates sensitive values into groups"
            yield Problem(f"privacy.{name}", said, "k_anonymity (with generalize), level_l")
    k = policy.privacy.k_anonymity
    if k is not None and (algorithm.generalize is None or algorithm.generalize.k < k):
        said = "asks for more than algorithm.generalize: msb publishes exact quasi-identifiers"
        hint = "algorithm: {generalize: {k: <the same k>}}"
        yield Problem("privacy.k_anonymity", said, hint=hint)
    if algorithm.generalize is not None and not policy.quasi:
        yield Problem("algorithm.generalize", "has no quasi column to generalize")
    if algorithm.allow_singletons and not algorithm.security_level_first:
        said = "needs security levels: only groups of level 0 may have one record"
        yield Problem("algorithm.allow_singletons", said, hint="security_level_first: true")
