"""Guards of algorithms: counts over the source that rule out a release."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from anonymizer.algorithms.core.encode import CODED, UNITS
from anonymizer.algorithms.core.partition import MEMBERS
from anonymizer.algorithms.core.person_rules import HOLDINGS, Judging, PersonRules
from anonymizer.compile import Sql, Table, ident
from anonymizer.errors import InfeasibleError, Problem, SourceError
from anonymizer.guarantees.identity import EirValueShare, PersonShare, ValueShare
from anonymizer.guarantees.requirements import OF_COLUMNS, asking_for, required_guarantees
from anonymizer.guarantees.rule import Rule, at_most, share_at_most, within
from anonymizer.guarantees.screening import screen, survives_additions
from anonymizer.policy import Policy, safe_harbor
from anonymizer.policy.paths import column_path, path_text
from anonymizer.process.text import many
from anonymizer.source.column_names import EXACT_UP_TO
from anonymizer.source.masking.masks import UNTOLD, Mask
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Guard, Row, Stage, Step

# Guards shared by algorithms: counts over the source that rule out a release.


NEARLY_UNIQUE = 0.9
"""Share of distinct values from which a published column counts as identifying."""
TIMESTAMPS = (-290307, 294246)
"""The first and last full years of timestamps; dates reach twenty times as far."""
ROWS = ("row", "rows")
REPEATED = "leave key out, or name person if several rows belong to one person"
KEYLESS = "name another column"
"""Hints for keys of a single table."""
JOINED = ": another table that has it can be joined to the release"


@dataclass(frozen=True, slots=True)
class Count:
    """A count over the snapshot, and what it means if it is not zero."""

    expression: str
    path: str
    says: str
    """The message, in which `{n}` is replaced with the count of the units."""
    units: tuple[str, str]
    """The noun for what is counted: singular and plural."""
    hint: str | None = None
    allowed: str | None = None

    def problem(self, n: int) -> Problem:
        said = self.says.format(n=many(n, *self.units))
        return Problem(self.path, said, allowed=self.allowed, hint=self.hint)


def source_guard(
    policy: Policy,
    profile: TableProfile,
    roles: Roles,
    snapshot: Table = SNAPSHOT,
    *,
    eras: bool = True,
) -> tuple[Guard, ...]:
    """Checks of the snapshot, made in one statement and reported together.

    `eras`: whether the engine writes a date before the year 1 as a text cell can hold it.
    """
    counts = [
        *(
            Count(
                f"count(*) filter (where {name} is null)",
                column_path(column, "nulls"),
                "forbids NULL, but {n} none there",
                ("row has", "rows have"),
                allowed="own_class, suppress, forbid",
            )
            for column, name in roles.published
            if policy.columns[column].nulls == "forbid"
        ),
        *_quasi_counts(roles),
        *(() if eras else _era_counts(policy, roles)),
        *_key_counts(policy),
        *_rounded_counts(policy, profile),
        *_variety_counts(policy, roles),
        *_unique_counts(policy, roles, snapshot),
    ]
    if not counts:
        return ()

    def explain(row: Row) -> Problem:
        number, n = row
        count: Count = counts[number - 1]
        return count.problem(n)

    step = Step(
        "checks of the source",
        "guards/counts",
        {
            "snapshot": snapshot,
            "counts": [
                (Sql(f"n{number}"), Sql(count.expression))
                for number, count in enumerate(counts, start=1)
            ],
        },
    )
    return (Guard(step, explain, SourceError),)


def _quasi_counts(roles: Roles) -> Iterator[Count]:
    for a in roles.quasi:
        path = column_path(a.column)
        if a.sql_type in ("FLOAT", "DOUBLE") and a.kind == "numeric":
            yield Count(
                f"count(*) filter (where isnan({a.q}) or isinf({a.q}))",
                path,
                "has {n} NaN or infinite, which no interval can hold",
                ("value that is", "values that are"),
                "make them NULL in source.query, or use kind: categorical",
            )
        if a.kind == "date":
            yield Count(
                f"count(*) filter (where isinf({a.q}))",
                path,
                "has {n}, which no interval can hold",
                ("infinite date", "infinite dates"),
                "make them NULL in source.query",
            )
        if a.sql_type == "DATE":
            # beyond timestamps, with which the length of intervals of dates is computed
            first, last = TIMESTAMPS
            beyond = f"not isinf({a.q}) and not year({a.q}) between {first} and {last}"
            yield Count(
                f"count(*) filter (where {beyond})",
                path,
                "has {n} in years that no interval can hold",
                ("date", "dates"),
                "make them NULL in source.query",
                allowed=f"the years {first} to {last}",
            )


def _era_counts(policy: Policy, roles: Roles) -> Iterator[Count]:
    for a in roles.quasi:
        text = policy.publish.cells == "text" and a.kind == "date"
        if text or (a.kind == "categorical" and a.sql_type == "TIMESTAMP WITH TIME ZONE"):
            yield Count(
                f"count(*) filter (where {a.q} < cast('0001-01-01' as {a.sql_type}))",
                column_path(a.column),
                "has {n} before the year 1, which this engine cannot write in a cell",
                ("date", "dates"),
                "publish: {cells: typed} with kind: date, or cast it to a year in source.query",
            )


def _key_counts(policy: Policy) -> Iterator[Count]:
    if policy.key is not None:
        yield Count("count(*) - count(identity)", "key", "is NULL in {n}", ROWS, KEYLESS)
        repeated = "count(identity) - count(distinct identity)"
        said, repeat = "is not unique: {n} a key", ("row repeats", "rows repeat")
        yield Count(repeated, "key", said, repeat, REPEATED)
    if policy.person is not None:
        hint = "give every row its person"
        yield Count("count(*) - count(person)", "person", "is NULL in {n}", ROWS, hint)


def _rounded_counts(policy: Policy, profile: TableProfile) -> Iterator[Count]:
    """Keys and persons that may be equal because their type has too few digits."""
    owners = {"key": (policy.key, "cast(identity as double)"), "person": (policy.person, "person")}
    for field, (name, value) in owners.items():
        exact = EXACT_UP_TO.get(profile.type_of(name)) if name is not None else None
        if exact is not None:
            said = "has, in {n}, larger numbers than its type is exact for: some may be equal"
            beyond = f"count(*) filter (where abs({value}) >= {exact})"
            hint = "store them as text or as whole numbers where they come from"
            yield Count(beyond, field, said, ROWS, hint)


def _variety_counts(policy: Policy, roles: Roles) -> Iterator[Count]:
    """Columns with fewer different values than any class needs.

    Suppression cannot help: the rows that are left have no more values. If `bucket_size` equally
    frequent values are the fewest that satisfy a guarantee, no class with fewer values does.
    """
    for u in roles.units:
        least, different = dict(policy.privacy.units or {})[u.column], f"count(distinct {u.s})"
        yield Count(
            f"case when count(*) > 0 and {different} < {least} then {least} - {different} else 0"
            " end",
            path_text(("privacy", "units", u.column)),
            f"cannot hold in any class: it takes {least} different values, {{n}} more than the"
            " column has (a NULL is none)",
            ("value", "values"),
            "ask for fewer, or leave the unit out",
        )
    for s in roles.sensitive:
        column = policy.columns[s.column]
        if column.role != "sensitive" or column.protect is None:
            continue  # where a column is sensitive in some rows only, there may be none of them
        different = f"count(distinct {s.s})"
        if column.null_as_value:
            different += f" + case when count(*) > count({s.s}) then 1 else 0 end"
        for guarantee, value in required_guarantees(OF_COLUMNS, column.protect):
            if guarantee.bucket_size is None:
                continue
            least = guarantee.bucket_size(value)
            yield Count(
                f"case when count(*) > 0 and {different} < {least} then {least} - ({different})"
                " else 0 end",
                column_path(s.column, "protect", guarantee.option),
                f"cannot hold in any class: it takes {least} different values, {{n}} more than the"
                " column has",
                ("value", "values"),
                f"weaken {guarantee.option}, or protect the column by t_closeness; role: drop if"
                " it has no values",
            )


def _unique_counts(policy: Policy, roles: Roles, snapshot: Table) -> Iterator[Count]:
    """Published columns that would identify persons on their own."""

    def counted(name: Sql) -> str:
        return _unique(name) if policy.person is None else _of_one_person(name, snapshot)

    open_columns = [(k.column, k.k) for k in roles.kept if k.mask not in UNTOLD]
    open_columns += [
        (s.column, s.s) for s in roles.sensitive if policy.columns[s.column].protect is None
    ]
    if policy.person is None:
        said = "is nearly unique ({n}) and would be published as it is"
    else:
        said = "names persons: nearly every one of its {n} belongs to one person only"
    said += JOINED if policy.algorithm.classless else f"{JOINED}, and k holds no longer"
    units = ("different value", "different values")
    hint = "role drop, or acknowledge_unique: true"
    if safe_harbor.applies(policy):
        hint = "role drop, or make it coarser: role round, top_code or bottom_code"
    for column, name in open_columns:
        given = policy.columns[column]
        # (places, dates and ages that Safe Harbor allows may be rare in a small table)
        if not given.acknowledge_unique and given.safe_harbor not in safe_harbor.COARSE:
            yield Count(counted(name), column_path(column), said, units, hint)
    for mask in roles.masks:
        if policy.columns[mask.column].acknowledge_unique:
            continue
        for told in _distinguishable_groups(mask):
            yield Count(
                counted(told),
                column_path(mask.column),
                "has too little noise to hide who has which value: {n} remain distinct,"
                " nearly every one of them of one row or person",
                ("value or group of them", "values or groups of them"),
                "a larger amount or share, or acknowledge_unique: true",
            )


def _distinguishable_groups(mask: Mask) -> Iterator[Sql]:
    """Groups of values that remain distinguishable, being further apart than the noise reaches."""
    if mask.kind != "noise":
        return
    value = f"cast({mask.original} as double)"
    if "amount" in mask.options:
        steps = f"({value} / {2 * mask.options['amount']!r})"
        # (from there on a double is whole, and an engine whose `floor` gives integers has none)
        yield Sql(f"case when abs({steps}) < {2**53} then floor({steps}) else {steps} end")
    elif mask.options["share"] < 1:
        share = mask.options["share"]
        ratio = math.log((1 + share) / (1 - share))
        size = f"floor(ln(abs({value})) / {ratio!r})"
        known = f"isfinite({value}) and {value} <> 0"
        yield Sql(
            f"case when {known} then {size} + case when {value} < 0 then 1000000 else 0 end end"
        )


def _unique(name: Sql) -> str:
    return (
        f"case when count(*) > 1 and count(distinct {name}) >= {NEARLY_UNIQUE} * count(*)"
        f" then count(distinct {name}) else 0 end"
    )


def _of_one_person(name: Sql, snapshot: Table) -> str:
    """The number of distinct values, if nearly every one belongs to one person; else 0."""
    return (
        f"(select case when count(*) > 1 and count(*) filter (where persons = 1)"
        f" >= {NEARLY_UNIQUE} * count(*) then count(*) else 0 end"
        f" from (select value, count(*) as persons from (select distinct {name} as value, person"
        f" from {ident(snapshot)} where {name} is not null) as pairs group by value) as owners)"
    )


def enough_units(policy: Policy, least: int) -> Guard:
    """A guard that enough rows (persons) for one class are there, besides those that wait."""
    unit = "persons" if policy.person is not None else "rows"
    counted = "count(distinct person)" if policy.person is not None else "count(*)"
    path = asking_for(policy, least)

    def explain(row: Row) -> Problem:
        are = "is" if row[0] == 1 else "are"
        if policy.continues:
            return Problem(
                path,
                f"asks for classes of {least:,} {unit}, but there {are} {row[0]:,} besides those"
                " of earlier classes in which too few stay, or which too few join",
                hint="publish later, when more have come",
            )
        return Problem(
            path,
            f"asks for classes of {least:,} {unit}, but there {are} {row[0]:,}",
            hint="lower k, or release more rows",
        )

    step = Step(
        "enough rows",
        "guards/too_few",
        {"coded": CODED, "count": Sql(counted), "least": least},
    )
    return Guard(step, explain, InfeasibleError)


# Checks early, from counts, whether any class can satisfy the guarantees on persons.


def feasibility(
    policy: Policy, rules: PersonRules, *, exact: bool = True, leaves_out: bool = False
) -> tuple[Stage, ...]:
    """Guards against persons with more rows than alpha can allow, and for the table as one class.

    Every rule is preserved under union, so a rule that fails for the whole table fails for some
    class of every partition. `exact`: search if counts do not decide EIR l-diversity.
    `leaves_out`: the algorithm suppresses persons whom no class takes, so that a share that is too
    large stops the run only if suppression_limit cannot lower it.
    """
    if not rules.columns:
        return ()
    guards: list[Stage] = []
    names = {column.index: column.column for column in rules.columns}
    alpha = rules.alpha
    allowed: Sql | None = None
    if leaves_out and policy.suppression_limit:
        limit = share_at_most(policy.suppression_limit)
        allowed = Sql(f"cast(floor({limit} * persons) as bigint)")
    if alpha is not None:
        guards.append(_crowding(policy, alpha, allowed))
    screens = [
        screen(rule).fails.text if survives_additions(rule) else _after(rule, allowed)
        for rule in rules.rules
        if not isinstance(rule, PersonShare)
    ]
    if not screens:
        return tuple(guards)
    models = ", ".join(policy.privacy.identity_reserved)

    def explain(row: Row) -> Problem:
        column, persons, different, widest, pairs = row
        needed = max(
            (_persons_to_leave_out(rule, persons, pairs, widest) for rule in rules.rules), default=0
        )
        found = (
            f"{many(persons, 'person')} with a value, {many(different, 'different value')},"
            f" the most widespread with {widest} persons"
        )
        path = column_path(names[int(column)])
        if not needed or needed >= widest:
            return Problem(
                path,
                f"cannot hold {models} in any class: the table as one class fails ({found})",
                hint="ask for less, or leave the most widespread values out in source.query",
            )
        hint = f"raise suppression_limit, so that {needed} persons or more may be left out"
        if not leaves_out:
            hint = "algorithm: {name: danonyir} leaves persons out, up to suppression_limit"
        return Problem(
            path,
            f"holds {models} in every class only if {needed} persons or more with the most"
            f" widespread value are left out: the table as one class fails ({found})",
            hint=f"{hint}; or ask for less",
        )

    query = Step(
        "the table as one class",
        "persons/whole_table",
        {"holdings": HOLDINGS, "fails": Sql(" or ".join(f"({one})" for one in screens))},
    )
    searched = _exact_search(rules) if exact and rules.hitting else ()
    return (*guards, Guard(query, explain, InfeasibleError), *searched)


def _after(rule: Rule, allowed: Sql | None) -> str:
    """Return whether a rule on the share of a value fails for the table as one class, even without
    `allowed` persons who have this value only.

    Persons with other values as well lower the share less.
    """
    if allowed is None or not isinstance(rule, ValueShare):
        return screen(rule).fails.text
    among = "known" if isinstance(rule, EirValueShare) else "known_pairs"
    left = f"least({allowed}, widest)"
    held = within(f"(widest - {left})", at_most(rule.beta), f"({among} - {left})")
    return f"not (known > 0 and {held})"


def _persons_to_leave_out(rule: Rule, persons: int, pairs: int, widest: int) -> int:
    """The persons with the most widespread value who have to be left out at least."""
    if not isinstance(rule, ValueShare) or (beta := at_most(rule.beta)) >= 1:
        return 0
    among = persons if isinstance(rule, EirValueShare) else pairs
    # (widest - beta * among) / (1 - beta), rounded up; of whole numbers, as scripts print it
    more, of = beta.denominator * widest - beta.numerator * among, beta.denominator - beta.numerator
    return max(0, (more + of - 1) // of)


def _exact_search(rules: PersonRules) -> tuple[Stage, ...]:
    """Judge EIR l-diversity of the table as one class, by the same search as for single classes."""
    judging = Judging(rules, "everybody")
    path = column_path(rules.columns[0].column) if len(rules.columns) == 1 else "privacy.eir_l"

    def explain(row: Row) -> Problem:
        return Problem(
            path,
            f"cannot hold eir_l in any class: fewer than {rules.hitting} values meet every one of"
            f" {many(row[0], 'person')}, so that they do in every class",
            hint="ask for less, or leave the most widespread values out in source.query",
        )

    asked = Step("everybody", "persons/all_units", {"asked": judging.groups, "units": UNITS})
    query = Step(
        "everybody as one class",
        "persons/all_units_fail",
        {"verdicts": judging.verdicts, "searched": judging.search_results, "units": UNITS},
    )
    return (asked, *judging.steps(), Guard(query, explain, InfeasibleError))


def some_class() -> Guard:
    """A guard that there is a class to publish."""

    def explain(_: Row) -> Problem:
        return Problem(
            "privacy",
            "holds in no class that could be formed, so every person would be suppressed",
            hint="ask for less, or give danonyir larger blocks",
        )

    query = Step("some class", "persons/no_members", {"members": MEMBERS})
    return Guard(query, explain, InfeasibleError)


def _crowding(policy: Policy, alpha: float, allowed: Sql | None) -> Guard:
    name = "eir_alpha_beta" if policy.privacy.eir_alpha_beta else "ir_alpha_beta"

    def explain(row: Row) -> Problem:
        return Problem(
            f"privacy.{name}.alpha",
            f"{many(row[0], 'person has', 'persons have')} more than a share {alpha} of all rows,"
            f" so no class can hold them (the most are {row[1]:,} of {many(row[2], 'row')})",
            hint="raise alpha, or leave these persons out: in source.query, or by danonyir with a"
            " suppression_limit for so many",
        )

    held = [
        within(n, at_most(alpha), f"sum({n}) over (partition by col)") for n in ("records", "pairs")
    ]
    context = {"holdings": HOLDINGS, "holds": Sql(" and ".join(held)), "allowed": allowed}
    query = Step("persons with too many rows", "persons/crowding", context)
    return Guard(query, explain, InfeasibleError)
