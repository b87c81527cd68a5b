"""The statements that read the source once, and count its values."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from anonymizer.compile import Sql, Table, ident, join, lit, sql, work
from anonymizer.compile.condition import condition
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy.scale import Bound, Scale, exact, scale_of
from anonymizer.policy import Policy
from anonymizer.policy.hierarchies import Intervals
from anonymizer.policy.paths import column_path
from anonymizer.policy.values import Together
from anonymizer.source.masking.expressions import instant_text, per, zero_before_point
from anonymizer.source.masking.masks import Mask, family_of
from anonymizer.source.masking.stages import RAW, masking_stages, rows_drawn
from anonymizer.source.masking.values import identifier_columns, read_with
from anonymizer.source.profile import Attribute, TableProfile, read_as_text
from anonymizer.source.roles import Roles
from anonymizer.steps import Stage, Step

# The relation that the rows of a source are read from.


QUERIED = work("queried")
"""Table for the rows of `source.query`."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The origin of rows: a table, or SQL (a file function, a user's query)."""

    sql: Sql
    table: Table | None = None


def with_owners(
    policy: Policy, source: Relation, profile: TableProfile
) -> tuple[Relation, TableProfile]:
    """The source with a column for each key or person of several columns: see `with_together`."""
    counted = policy.counts.person if policy.counts is not None else None
    return with_together((policy.key, policy.person, counted), source, profile)


def with_together(
    names: Iterable[str | None], source: Relation, profile: TableProfile
) -> tuple[Relation, TableProfile]:
    """The source with a column for each name of several columns: all their values as one text, NULL
    if one of them is. The profile gets its name too.
    """
    there = {name for name, _ in profile.columns}
    given = [name for name in dict.fromkeys(names) if isinstance(name, Together)]
    made = [name for name in given if there.issuperset(name.columns)]
    if not made:
        return source, profile
    columns = join(sql("{e} as {n}", e=_as_one(name, profile), n=ident(name)) for name in made)
    relation = sql("(select *, {c} from {r}) as source", c=columns, r=source.sql)
    further = tuple((name, "VARCHAR") for name in made)
    return replace(source, sql=relation), replace(profile, columns=(*profile.columns, *further))


def _as_one(name: Together, profile: TableProfile) -> Sql:
    """The values of several columns, each after its length: no two lists of values are one text."""
    known = " and ".join(f"{ident(column)} is not null" for column in name.columns)
    texts = [_plain_text(column, profile) for column in name.columns]
    each = ", ' ', ".join(f"strlen({text}), ':', {text}" for text in texts)
    return Sql(f"case when {known} then concat({each}) end")


def _plain_text(column: str, profile: TableProfile) -> str:
    """A value as text, by which a number is the same in every type: 3 for 3.0 and 3.00."""
    text, sql_type = key_text(column, profile), profile.type_of(column)
    if sql_type in ("FLOAT", "DOUBLE"):
        value = f"cast({ident(column)} as double)"
        whole = f"abs({value}) < 9e15 and {value} = floor({value})"
        return f"case when {whole} then cast(cast({value} as bigint) as varchar) else {text} end"
    if sql_type.startswith("DECIMAL"):
        return (
            f"case when strpos({text}, '.') > 0 then rtrim(rtrim({text}, '0'), '.') else {text} end"
        )
    return text


# Secret-keyed draws: the only randomness of a run.
#
# A row's draw is a digest of the run's secret and the row's identity. Every later draw is a digest
# of an earlier one and a purpose, so the secret is bound in one statement and nowhere else.


def later_draw(draw: str, purpose: str) -> Sql:
    """The draw for `purpose`, derived from `draw`, a column or expression of type UHUGEINT.

    It is printed in hexadecimal first, because printing a 128-bit integer in decimal takes 500
    times longer (and DuckDB 1.5 cannot cast it to a UUID).
    """
    return Sql(f"md5_number(concat(hex({draw}), {lit(':' + purpose)}))")


# Values as the text of a published cell.


def value_text(value: str, attribute: Attribute) -> Sql:
    """A single value as the text of a cell."""
    if attribute.sql_type == "TIMESTAMP WITH TIME ZONE":
        # in UTC, whatever the time zone of the session
        value = instant_text(value)
    value = literal_of_type(value, attribute.sql_type)
    text = Sql(f"cast({value} as varchar)")
    # a category is in double quotes if it could be misread
    return text if attribute.ordered else exact(text)


def literal_of_type(value: str, sql_type: str) -> str:
    """`value`, cast to double if it is one, because engines format doubles differently."""
    return f"cast({value} as {sql_type})" if sql_type in ("FLOAT", "DOUBLE") else value


# Top and bottom coding: values beyond a column's codes are replaced by the codes when read.
#
# No later step reads the original values, so nothing in a release depends on them; even at the
# lowest level of a hierarchy a value beyond a code is published as the open interval.


def coding(policy: Policy, column: str, sql_type: str) -> Intervals | None:
    """The codes of a column that is published with open intervals, else None."""
    spec = policy.columns[column].hierarchy
    if policy.columns[column].kind == "categorical" or scale_of(sql_type) is None:
        return None
    if not policy.algorithm.over_levels or not isinstance(spec, Intervals):
        return None
    return spec if spec.bottom is not None or spec.top is not None else None


def code_extremes(value: Sql, spec: Intervals, sql_type: str) -> Sql:
    """A value as it is read: the top code for all values above it, the value just below the bottom
    code for all values below it. A value in no interval raises SourceError later.
    """
    scale = scale_of(sql_type)
    assert scale is not None
    finite = sql(" and isfinite({v})", v=value) if scale.can_be_infinite else Sql("")
    whens: list[Sql] = []
    try:
        if spec.top is not None:
            top = scale.literal(spec.top)
            whens.append(sql("when {v} >= {t}{f} then {t}", v=value, t=top, f=finite))
        if spec.bottom is not None:
            bottom = scale.literal(spec.bottom)
            below = just_below(scale, spec.bottom)
            whens.append(sql("when {v} < {b}{f} then {n}", v=value, b=bottom, f=finite, n=below))
    except ValueError:
        return value  # the hierarchy's builder reports an invalid bound
    return Sql(f"case {' '.join(str(when) for when in whens)} else {value} end")


def just_below(scale: Scale, bottom: Bound) -> Sql:
    """The largest value below `bottom`."""
    if scale.line != "reals":
        return scale.before(scale.literal(bottom))
    below = math.nextafter(float(bottom), -math.inf)
    if scale.sql_type == "FLOAT":
        below = _single_below(float(bottom))
    return sql("cast({v} as {t})", v=lit(below), t=Sql(scale.sql_type))


def _single_below(bound: float) -> float:
    """The largest single-precision number below `bound`."""
    (single,) = struct.unpack("<f", struct.pack("<f", bound))
    if single < bound:
        return float(single)
    if single == 0:
        return float(struct.unpack("<f", struct.pack("<I", 0x80000001))[0])
    (bits,) = struct.unpack("<i", struct.pack("<f", single))
    step = -1 if bits > 0 else 1
    return float(struct.unpack("<f", struct.pack("<i", bits + step))[0])


SNAPSHOT = work("snapshot")
"""The rows that may be published: the only source of values, domains and hierarchies."""
READ = work("read_rows")
"""All rows as read, if `nulls: suppress` leaves some of them out."""
DISTINCT = work("distinct_values")


def reading_steps(
    policy: Policy,
    profile: TableProfile,
    roles: Roles,
    source: Relation,
    more: Sequence[tuple[Sql, Sql]] = (),
    *,
    alone: bool = True,
) -> tuple[Stage, ...]:
    """Read the source once, as the first step, mask columns, and omit the rows that NULLs suppress.

    Suppressed rows are omitted before values are counted, so that they affect no domain, hierarchy
    or measure. `more`: as for `snapshot_step`; `alone`: as for `masking_stages`.
    """
    columns = suppressing(policy, roles)
    first = snapshot_step(policy, profile, roles, source, more)
    read: tuple[Stage, ...] = (first,)
    if roles.masks:
        read += masking_stages(
            policy,
            roles.masks,
            [name for _, name in first.parameters["columns"]],
            rows_read(policy, roles),
            alone=alone,
            known=columns,
            persons=policy.person is not None,
        )
    if not columns:
        return read
    context = {
        "read": READ,
        "snapshot": SNAPSHOT,
        "columns": columns,
        "persons_whole": policy.person is not None,
    }
    return (*read, Step("rows that may be published", "prepare/kept", context))


def suppressing(policy: Policy, roles: Roles) -> list[Sql]:
    """The snapshot columns in which NULL suppresses a row, and all rows of its person."""
    return [name for column, name in roles.published if policy.columns[column].nulls == "suppress"]


def rows_read(policy: Policy, roles: Roles) -> Table:
    """The relation with all rows of the source, counted for the suppression limit."""
    return READ if suppressing(policy, roles) else SNAPSHOT


def snapshot_step(
    policy: Policy,
    profile: TableProfile,
    roles: Roles,
    source: Relation,
    more: Sequence[tuple[Sql, Sql]] = (),
) -> Step:
    """The step that reads the source. Raises SourceError with every condition that cannot be used.

    `more`: further columns, as expressions over the source with their names.
    """
    columns = columns_read(policy, profile, roles)
    if policy.person is not None:
        columns.append((ident(policy.person), Sql("person")))
    identity = _identity(policy, profile, roles)
    if identity is not None:
        columns.append((identity, Sql("identity")))
    columns += identifier_columns(read_with(roles.masks))
    columns += [
        (_per(policy, profile, mask), per(mask)) for mask in roles.masks if mask.kind == "shift"
    ]
    return Step(
        "read the source",
        "prepare/snapshot",
        {
            "snapshot": RAW if roles.masks else rows_read(policy, roles),
            "columns": [*columns, *more],
            "source": source.table or source.sql,
            "relation": source.sql,
        },
    )


def columns_read(policy: Policy, profile: TableProfile, roles: Roles) -> list[tuple[Sql, Sql]]:
    """The columns by role, as expressions over the source with their names.

    Raises SourceError with every condition that cannot be used.
    """
    names = [name for name, _ in profile.columns]
    columns: list[tuple[Sql, Sql]] = []
    problems: list[Problem] = []
    for a in roles.quasi:
        value, codes = source_value(a.column, a.sql_type), coding(policy, a.column, a.sql_type)
        columns.append((value if codes is None else code_extremes(value, codes, a.sql_type), a.q))
        when = policy.columns[a.column].sensitive_when
        if when is not None:
            found = condition(when, names, column_path(a.column, "sensitive_when"))
            if isinstance(found, Problem):
                problems.append(found)
            else:
                columns.append((found, a.f))
    for s in roles.sensitive:
        grouped = policy.columns[s.column].protect is not None
        columns.append((source_value(s.column, s.sql_type, grouped=grouped), s.s))
    columns += [(source_value(u.column, u.sql_type), u.s) for u in roles.units]
    columns += [
        (source_value(k.column, profile.type_of(k.column), grouped=False), k.k) for k in roles.kept
    ]
    SourceError.refuse(problems)
    return columns


def _per(policy: Policy, profile: TableProfile, mask: Mask) -> Sql:
    """The text of the value that rows with the same shift share."""
    column = mask.options.get("per") or policy.person or policy.key
    assert column is not None
    text = key_text(str(column), profile)
    return Sql(f"coalesce({text}, '')")


def source_value(column: str, sql_type: str, *, grouped: bool = True) -> Sql:
    """A column as read; a type that contains more than its values (an ENUM) becomes text.

    `grouped`: one of several rows with equal values represents all of them.
    """
    name = ident(column)
    if read_as_text(sql_type):
        # a column may have its own collation; values are compared by their bytes
        return Sql(f'cast({name} as varchar) collate "binary"')
    if grouped and sql_type in ("FLOAT", "DOUBLE"):
        # -0.0 and 0.0 are equal but print differently: which one a group shows would be arbitrary
        return Sql(f"cast(case when {name} = 0 then 0 else {name} end as {sql_type})")
    return name


def _identity(policy: Policy, profile: TableProfile, roles: Roles) -> Sql | None:
    """The identity of a row besides its quasi-identifiers: the key, or all other columns.

    None if not needed.
    """
    if policy.key is not None:
        return Sql(key_text(policy.key, profile))
    drawn = rows_drawn(roles.masks)
    if not distinguishes_rows(policy, roles) and not drawn:
        return None
    quasi = set() if drawn else {a.column for a in roles.quasi}
    others = [name for name, _ in profile.columns if name not in quasi]
    return content(others, profile) if others else None


def content(columns: Iterable[str], profile: TableProfile) -> Sql:
    """A digest of columns. The encoding is injective: texts have their length, and NULL is -1."""
    # (a length as text is computed once per distinct value of a column, not once per row)
    length = "coalesce(cast(strlen({0}) as varchar), '-1'), ':', {0}"
    texts = ", ".join(length.format(_own_text(name, profile)) for name in columns)
    return Sql(f"md5(concat({texts}))")


def _own_text(column: str, profile: TableProfile) -> str:
    """The text by which rows are copies; it distinguishes -0.0, which is published as it is."""
    text = key_text(column, profile)
    if profile.type_of(column) not in ("FLOAT", "DOUBLE"):
        return text
    name = ident(column)
    negative = f"{name} = 0 and starts_with(cast({name} as varchar), '-')"
    return f"case when {negative} then '-0' else {text} end"


def key_text(column: str, profile: TableProfile) -> str:
    """The text by which the values of a column are distinguished and joined."""
    name, sql_type = ident(column).text, profile.type_of(column)
    if sql_type in ("FLOAT", "DOUBLE"):
        # engines print single precision, and the sign of zero, differently
        return f"cast(cast(case when {name} = 0 then 0 else {name} end as double) as varchar)"
    if family_of(sql_type) == "zoned":
        return instant_text(name)
    text = f"cast({literal_of_type(name, sql_type)} as varchar)"
    if family_of(sql_type) == "decimal":
        text = zero_before_point(text, sql_type)
    # DuckDB keeps collations, and one expression cannot have two
    return f'{text} collate "binary"' if read_as_text(sql_type) else text


def values_step(column: str, values: Table, cell: Sql, snapshot: Table = SNAPSHOT) -> Step:
    """The distinct values of one column of the snapshot, with their counts."""
    return Step(
        f"values of {column}",
        "prepare/values",
        {"snapshot": snapshot, "values": values, "column": cell},
    )


def values_steps(roles: Roles) -> tuple[Step, ...]:
    """The steps that collect the distinct values of every quasi-identifier."""
    return tuple(values_step(a.column, a.values, a.q) for a in roles.quasi)


def values_at_once(roles: Roles) -> tuple[Step, ...]:
    """Like `values_steps`, in one scan of the snapshot, for engines with expensive scans."""
    if not roles.quasi:
        return ()
    shared = {"snapshot": SNAPSHOT, "distinct": DISTINCT, "attributes": roles.quasi}
    one = [
        Step(
            f"values of {a.column}",
            "prepare/values_of",
            {"distinct": DISTINCT, "values": a.values, "attribute": a},
        )
        for a in roles.quasi
    ]
    return (Step("values of all columns", "prepare/distinct", shared), *one)


def row_counts(roles: Roles, *, at_once: bool) -> list[str]:
    """Queries that count the rows of the snapshot, and the non-NULL values of quasi-identifiers."""
    if at_once and roles.quasi:
        counted = f"select coalesce(sum(n), 0) from {ident(DISTINCT)}"
        first = roles.quasi[0].index
        known = [f"{counted} where g{a.index} = 0 and {a.q} is not null" for a in roles.quasi]
        return [f"{counted} where g{first} = 0", *known]
    counted = f"select count(*) from {ident(SNAPSHOT)}"
    return [counted, *(f"select coalesce(sum(n), 0) from {ident(a.values)}" for a in roles.quasi)]


def distinguishes_rows(policy: Policy, roles: Roles) -> bool:
    """Return whether rows with equal quasi-identifiers have to be distinguished.

    If nothing else of them is published or recorded, they are interchangeable.
    """
    if policy.person is not None or policy.ledger is not None:
        return policy.key is not None or len(policy.columns) > len(roles.quasi)
    return policy.key is not None or bool(roles.ruled or roles.kept or roles.flagged)
