"""Counts of what a source may mean otherwise than it is read.

Values that are one but for their spelling, dates of a wrong century, numbers with more digits than
their type, rows that repeat, groups of persons that fill a class, and columns that tell others. One
statement over the snapshot counts each kind. The figures are for warnings (`meant_remarks`), and no
part of a release.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anonymizer.compile import Sql, Table, ident, join, lit, work
from anonymizer.guarantees.requirements import least_class
from anonymizer.policy import Policy
from anonymizer.source import column_names
from anonymizer.source.column_names import EXACT_UP_TO, countable
from anonymizer.source.identifiers import fold_case, usual_characters
from anonymizer.source.profile import TableProfile, kind_of, read_as_text
from anonymizer.source.recognition import SURELY_UNKNOWN
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Note, Stage, Step

MEANT = "meant."
"""The prefix of the names of all figures."""
_TEXT = "cast(cell as varchar)"
_ONE_BLANK = f"regexp_replace(nfc_normalize({usual_characters(_TEXT)}), '[ \t\r\n]+', ' ', 'g')"
_FOLDED = fold_case(f"trim({_ONE_BLANK})")
# of most texts, which are ASCII with single blanks, only the capitals change
_UNUSUAL = f"regexp_matches({_TEXT}, '[^ -~]|^ | $|  ')"
FOLDED = Sql(f"case when {_UNUSUAL} then {_FOLDED} else lower({_TEXT}) end")
"""A value in one spelling: without blanks at its ends and characters that nobody sees."""
FIRST_YEAR = 1500
"""Earlier dates are those of a century that was left out, or of no date."""
_EARLY = "(0[0-9]{3}|1[0-4][0-9]{2})"
_DAY, _MONTH = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])"
EARLY = f"^ *({_EARLY}[-./]{_MONTH}[-./]{_DAY}|{_DAY}[-./]{_DAY}[-./]{_EARLY})([ T][0-9:.]+)? *$"
"""A text that is a date before it."""
SEVERAL = range(1, 10)
FACTORS = (2, 3, 5, 7)
"""Numbers of copies, and factors of them, whose contents are counted."""
COMPARED = 10_000
"""Rows in which columns are compared with each other."""
PAIRS = 100
"""Pairs of columns that are compared."""
FEW = 5
"""Rows of a hundred that are too few for a warning."""
AGREED = 0.9
"""Share of pairs of rows with one value that agree in the other, from chance (0) to always (1)."""
SURE = 10
"""Rows with one value that agree in the other by no chance."""
HOUSEHOLDS = column_names.GROUPS | {"hh", "hhid", "dwelling", "serial", "serialno", "couple"}
HOUSEHOLDS |= {"haushalt", "familie", "foyer", "menage", "hogar", "familia"}
"""Words that name groups of persons."""
GROUPED = 4
"""Columns that are taken for numbers of groups of persons at most."""
BESIDE = work("beside")


def household_like(policy: Policy, profile: TableProfile) -> tuple[str, ...]:
    """Columns that are not published and may number groups of persons."""
    found = [
        name
        for name, column in policy.columns.items()
        if name not in policy.owners
        and name not in policy.privacy.unit_columns
        and countable(profile.type_of(name))
        and (
            column.role == "identifier"
            or (column.role == "drop" and column_names.says(name, HOUSEHOLDS))
        )
    ]
    return tuple(sorted(found, key=lambda name: not column_names.says(name, HOUSEHOLDS))[:GROUPED])


def household_digests(policy: Policy, profile: TableProfile) -> list[tuple[Sql, Sql]]:
    """Columns of the snapshot by which such groups are counted."""
    return [
        (Sql(f"case when {ident(name)} is not null then hash({ident(name)}) end"), Sql(f"g{j}"))
        for j, name in enumerate(household_like(policy, profile), 1)
    ]


def early(cell: Sql, sql_type: str) -> Sql | None:
    """Return whether a cell is an early date, or a text of one; None where its type has none."""
    if read_as_text(sql_type):
        return Sql(f"regexp_matches(cast({cell} as varchar), {lit(EARLY)})")
    if kind_of(sql_type) != "date" or sql_type == "TIMESTAMP_NS":
        return None
    return Sql(f"{cell} < cast('{FIRST_YEAR}-01-01' as {sql_type}) and not isinf({cell})")


def meant_notes(
    policy: Policy, profile: TableProfile, roles: Roles, snapshot: Table, *, alone: bool, rows: int
) -> tuple[Stage, ...]:
    """The statements that count. `alone`: no table is published beside this one; `rows`: there."""
    return (
        *_values(policy, profile, roles, snapshot),
        *(_copies(policy, profile, roles, snapshot) if alone else ()),
        *_beside(policy, roles, snapshot, rows),
    )


def _place(policy: Policy, column: str) -> str:
    """The number of a column, by which its figures are named: a name may be too long."""
    return str(list(policy.columns).index(column))


def _named(kind: str, place: str, *figures: str) -> dict[str, str]:
    return {figure: f"{MEANT}{kind}.{place}.{figure}" for figure in figures}


def _units(policy: Policy) -> Sql:
    return Sql("count(*)" if policy.person is None else "count(distinct person)")


def _values(policy: Policy, profile: TableProfile, roles: Roles, snapshot: Table) -> Iterator[Note]:
    counts: list[tuple[Sql, str]] = []
    looked_at: list[dict[str, Any]] = []
    figures = ("different", "folded", "known", "single")
    owners = {"key": (policy.key, Sql("identity")), "person": (policy.person, Sql("person"))}
    for field, (owner, cell) in owners.items() if snapshot == SNAPSHOT else ():
        if owner is not None and read_as_text(profile.type_of(owner)):
            one = {"cell": cell, "text": True, "units": Sql("count(*)")}
            looked_at.append({**one, **_named("spelled", field, *figures)})
    in_class = policy.algorithm.values_in == "class"
    for column, cell, sql_type in _columns(roles):
        place, given, text = _place(policy, column), policy.columns[column], read_as_text(sql_type)
        if (found := early(cell, sql_type)) is not None:
            counts.append((found, f"{MEANT}early.{place}.n"))
        if sql_type in EXACT_UP_TO:
            whole = f"{cell} = floor({cell}) and not (isnan({cell}) or isinf({cell}))"
            large = f"abs({cell}) >= {EXACT_UP_TO[sql_type]} and {whole}"
            counts.append((Sql(large), f"{MEANT}large.{place}.n"))
        if text and _unknowns_listed(policy) and given.hierarchy is None:
            listed = join(lit(one) for one in sorted(SURELY_UNKNOWN))
            counts.append((Sql(f"lower(trim({cell})) in ({listed})"), f"{MEANT}unknown.{place}.n"))
        if given.protect is not None and (text or (in_class and given.role == "sensitive")):
            units = _units(policy) if snapshot == SNAPSHOT else Sql("count(*)")
            one = {"cell": cell, "text": text, "units": units}
            looked_at.append({**one, **_named("spelled", place, *figures)})
    if counts or looked_at:
        context = {"snapshot": snapshot, "counts": counts, "looked_at": looked_at, "folded": FOLDED}
        yield Note(Step("values that may not be meant", "prepare/meant", context))


def _unknowns_listed(policy: Policy) -> bool:
    """Whether the policy says which cells of its file are NULL: others may be in a later file."""
    read = policy.source.read
    return read is not None and bool(read.nulls)


def _columns(roles: Roles) -> Iterator[tuple[str, Sql, str]]:
    """The columns whose values are published as they are read, with their types."""
    yield from ((a.column, a.q, a.sql_type) for a in roles.quasi)
    yield from ((s.column, s.s, s.sql_type) for s in roles.sensitive)
    yield from ((k.column, k.k, k.sql_type) for k in roles.kept if k.mask is None)


def _copies(policy: Policy, profile: TableProfile, roles: Roles, snapshot: Table) -> Iterator[Note]:
    """Only where nothing says what a row is."""
    if policy.key is not None or policy.person is not None or policy.algorithm.classless:
        return
    columns = [a.q for a in roles.quasi]
    if roles.sensitive or roles.kept or roles.flagged:
        columns.append(Sql("identity"))
    elif len(profile.columns) > len(columns):
        return  # (rows are not told apart by columns that are not published)
    if columns:
        context = {
            "snapshot": snapshot,
            "columns": columns,
            "several": [(n, f"{MEANT}copies.several.{n}") for n in SEVERAL],
            "factors": [(n, f"{MEANT}copies.factor.{n}") for n in FACTORS],
            **_named("copies", "all", "different", "known"),
        }
        yield Note(Step("rows that repeat", "prepare/copies", context))


def _beside(policy: Policy, roles: Roles, snapshot: Table, rows: int) -> Iterator[Stage]:
    told_by = [(k.column, k.k) for k in roles.kept if k.mask is None]
    if policy.algorithm.values_in == "class":
        told_by += [(s.column, s.s) for s in roles.sensitive]
    pairs = [
        {
            "told_by": cell,
            "quasi": a.q,
            "in_part": policy.columns[column].role == "keep",
            "name": f"{MEANT}beside.{_place(policy, column)}.{_place(policy, a.column)}",
        }
        for column, cell in told_by
        for a in roles.quasi
    ][:PAIRS]
    if not pairs or policy.algorithm.classless:
        return
    columns = list({str(c): c for pair in pairs for c in (pair["told_by"], pair["quasi"])}.values())
    context = {
        "snapshot": snapshot,
        "beside": BESIDE,
        "columns": columns,
        "one_in": max(1, rows // COMPARED),
        "pairs": pairs,
        "few": FEW,
        "agreed": AGREED,
        "sure": SURE,
    }
    yield Step("rows to compare columns in", "prepare/predictor_rows", context)
    yield Note(Step("columns that predict others", "prepare/predictors", context))


def group_notes(policy: Policy, profile: TableProfile, roles: Roles) -> Iterator[Note]:
    """The statements that count groups of persons, as households."""
    least = least_class(policy)
    found = household_like(policy, profile)
    if found and roles.quasi and least > 1:
        figures = ("different", "known", "most", "large", "alike")
        groups = [
            {"digest": Sql(f"g{j}"), **_named("groups", _place(policy, name), *figures)}
            for j, name in enumerate(found, 1)
        ]
        context = {
            "snapshot": SNAPSHOT,
            "groups": groups,
            "quasi": [a.q for a in roles.quasi],
            "units": _units(policy),
            "least": least,
        }
        yield Note(Step("groups of persons", "prepare/groups", context))


def alone_notes(policy: Policy, roles: Roles) -> Iterator[Note]:
    """The statements that count persons who are alone with a kept value."""
    kept = [
        k for k in roles.kept if k.mask is None and not policy.columns[k.column].acknowledge_unique
    ]
    if kept and roles.quasi:
        context = {
            "snapshot": SNAPSHOT,
            "columns": [k.k for k in kept],
            "units": _units(policy),
            **_named("alone", "all", "alone", "known"),
        }
        yield Note(Step("alone by kept columns", "prepare/unique_rows", context))
