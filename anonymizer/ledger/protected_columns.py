"""Contents of a ledger's record of a release: identities, protected columns, further tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonymizer.compile import NumberedColumn, Sql, Table, ident, lit
from anonymizer.contract.layout import Layout, cell_parts, quasi
from anonymizer.guarantees.requirements import bucket_rule, rules_of_any
from anonymizer.guarantees.rule import Rule
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.paths import column_path, name_text, table_path
from anonymizer.source.child import Child, family
from anonymizer.source.column_names import names_person
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles

# How persons are recognized from release to release: by which column, and which kind of values.
#
# Digests are made of texts. A number has the same text whatever its type, because types change
# unnoticed (a column with a NULL is read from a file as doubles); other changes are refused.


@dataclass(frozen=True, slots=True)
class Recognition:
    """The rule by which the persons of a release are recognized."""

    column: str
    """The person or key column; empty if the row's content identifies the person."""
    kind: str
    """The kind of its values; without such a column, the columns of the row."""

    @classmethod
    def of(cls, policy: Policy, profile: TableProfile) -> Recognition:
        column = policy.person or policy.key
        if column is not None:
            return cls(column, kind(profile.type_of(column)))
        listed = sorted(f"{name_text(name)}: {kind(held)}" for name, held in profile.columns)
        return cls("", ", ".join(listed))


def same_text(text: str, sql_type: str) -> Sql:
    """The text of a value; that of a number does not depend on its type: 7 for 7.0 and 7.00."""
    if kind(sql_type) != NUMBER or sql_type.removeprefix("U") in WHOLE:
        return Sql(text)
    number = f"cast({text} as double)"
    return Sql(
        # (a large number is written as 1e+17)
        f"case when strpos({text}, 'e') > 0 then"
        f" case when abs({number}) < {BIGINTS} and {number} = floor({number})"
        f" then cast(cast({number} as bigint) as varchar) else {text} end"
        f" when strpos({text}, '.') > 0 then rtrim(rtrim({text}, '0'), '.') else {text} end"
    )


def person_text(column: str, sql_type: str) -> Sql:
    """The text of a snapshot column that identifies a row's person."""
    name = ident(column).text
    if sql_type in ("FLOAT", "DOUBLE"):
        name = f"cast(case when {name} = 0 then 0 else {name} end as double)"
    return same_text(f"cast({name} as varchar)", sql_type)


NUMBER = "a number"
BIGINTS = "9e18"
"""Numbers below it fit into BIGINT."""
WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"})


def kind(sql_type: str) -> str:
    """The kind of a type; within a kind, equal values have equal texts."""
    if sql_type in ("FLOAT", "DOUBLE") or sql_type.startswith("DECIMAL"):
        return NUMBER
    found = family(sql_type)
    return NUMBER if found == "a whole number" else found


# The parts of a release that the ledger records: protected columns, and pseudonyms.


EXACT = frozenset({"BOOLEAN", "DATE", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"})
"""Types whose values are equal exactly if their texts are, and that are faster to compare."""
TOKENS = "(tokens)"
DRAWN = frozenset({"token", "shift", "noise"})
"""Masks that give a value something else in every run, unless their key is kept."""
CLASS, BUCKET = "class", "bucket"
"""Scopes of a protected column."""


@dataclass(frozen=True, slots=True)
class Facet:
    """One protected column of a release: its groups, and the published values of each group."""

    column: str
    scope: str
    """`class`, or `bucket` if the values are in buckets."""
    index: int
    """Position among the facets, from 1."""
    group: Sql
    """Number of the row's group in the link table (alias `l`)."""
    physical: Sql
    """The column of the row's original value."""
    least: int
    """Fewest candidate values that the policy requires for a person; 2 if no rule sets it."""
    sql_type: str = "VARCHAR"
    """The type of that value."""
    once: bool = False
    """True if a signature lists every value once: that of a class, which may have many rows."""
    rows: Table | None = None
    """The originals, if they are those of a further table."""
    path: str = ""
    """The path of the column in the policy."""
    masks: tuple[Mapping[str, Any], ...] = ()
    """The masks of its values."""
    rules: tuple[Rule, ...] = ()
    """The rules of its values that are judged by which of them are equal."""
    beyond: tuple[str, ...] = ()
    """The rules that depend on more, by their fields."""

    @property
    def form(self) -> str:
        """The form of its values: kind and masks. Only texts of the same form are compared."""
        masks = json.dumps(self.masks, sort_keys=True, default=str) if self.masks else ""
        return f"{kind(self.sql_type)} {masks}".rstrip()

    @property
    def numbered(self) -> Sql:
        """A number for the value from its `text`, the same in every release."""
        return Sql("cast(md5_number_lower(text) >> 1 as bigint)")

    @property
    def named(self) -> Sql:
        """The value of a `text`, in the form in which rows are joined with it."""
        return Sql(f"cast(text as {self.sql_type})" if self.sql_type in EXACT else "text")

    @property
    def own(self) -> Sql:
        """The row's original value in that form."""
        if self.sql_type in EXACT:
            return Sql(f"cast(o.{self.physical} as {self.sql_type})")
        return self.text_of(f"o.{self.physical}")

    def text_of(self, value: str) -> Sql:
        """The text of a value of the column, the same in every release."""
        return same_text(f"cast({value} as varchar)", self.sql_type)

    truth = NumberedColumn("t")
    """The number of the member's original value."""

    @property
    def place(self) -> Sql:
        """The group of the member."""
        return Sql(f"b{self.index}") if self.dealt else Sql("class_id")

    @property
    def dealt(self) -> bool:
        """True if values were distributed to buckets, so that the group is not the class."""
        return self.scope == BUCKET

    alias = NumberedColumn("v")
    """The numbers of the column's values, joined to the rows."""


def facets(
    policy: Policy, roles: Roles, layout: Layout, also: Collection[str] = ()
) -> tuple[Facet, ...]:
    """Every protected column of a release, in the order of the policy.

    `also`: columns with a rule that a single-table policy does not have.
    """
    physical = {a.column: a.q for a in roles.quasi} | {s.column: s.s for s in roles.sensitive}
    whole = layout.class_id or layout.group_id
    republished = policy.republish.m if policy.republish is not None else None
    found: list[Facet] = []
    for column in layout.columns:
        described = policy.columns[column.column]
        if column.role not in ("sensitive", "semi"):
            continue
        if described.protect is None and republished is None and column.column not in also:
            continue
        group = column.bucket or whole
        assert group is not None
        least = bucket_rule(column.column, described.protect).m if described.protect else 1
        rules, beyond = rules_of_any(column.column, described)
        if column.column in also:
            beyond += ("eir_l",)
        found.append(
            Facet(
                column=column.column,
                scope=BUCKET if column.bucket else CLASS,
                index=len(found) + 1,
                group=Sql(f"l.{ident(group)}"),
                physical=physical[column.column],
                least=max(2, least, republished or 0),
                sql_type=column.sql_type,
                once=column.bucket is None and layout.class_id is not None,
                path=column_path(column.column),
                masks=column.masks,
                rules=rules,
                beyond=beyond,
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Mark:
    """A published column that is nearly unique: a pseudonym, if two releases hold it."""

    column: str
    index: int
    physical: Sql
    sql_type: str = "VARCHAR"
    path: str = ""
    """The path of the column in the policy."""
    token: bool = False
    """True if it holds tokens, which are equal in all columns under one key."""
    unnamed: bool = False
    """True if neither the policy nor its name marks it as identifying; then its values decide."""

    @property
    def label(self) -> str:
        """The name that columns of two releases share if their values can be compared."""
        return TOKENS if self.token else self.column

    @property
    def digest(self) -> Sql:
        text = same_text(f"cast({self.physical} as varchar)", self.sql_type)
        return Sql(
            f"case when {self.physical} is not null then md5_number(concat($ledger_key,"
            f" {lit(f':mark {self.label}:')}, {text})) end"
        )

    name = NumberedColumn("mark")


def marks(policy: Policy, roles: Roles) -> tuple[Mark, ...]:
    """The columns that are nearly unique, or may become so, and published with an acknowledgement.
    The comparison determines which of their values are rare enough for a pseudonym. Columns named
    like person keys and persistent tokens are included.
    """
    found: list[Mark] = []
    for column, physical, sql_type, mask in _open_columns(roles):
        described = policy.columns[column]
        said = described.acknowledge_unique or names_person(column)
        if said or (mask == "token" and described.key_file is not None):
            path, i = column_path(column), len(found) + 1
            found.append(Mark(column, i, physical, sql_type, path, mask == "token", not said))
    return tuple(found)


def opens(policy: Policy, roles: Roles, layout: Layout, after: int) -> tuple[Mark, ...]:
    """The columns whose values stand in the rows as they are, so that rows of two releases can be
    joined on them; not those whose values are drawn anew in every run. `after`: marks before them.
    """
    dealt = {c.column for c in layout.columns if c.bucket or c.column in layout.tables}
    return tuple(
        Mark(column, after + place, physical, sql_type, column_path(column))
        for place, (column, physical, sql_type) in enumerate(
            (
                (column, physical, sql_type)
                for column, physical, sql_type, mask in _open_columns(roles)
                if column not in dealt
                and not (mask in DRAWN and policy.columns[column].key_file is None)
            ),
            start=1,
        )
    )


def _open_columns(roles: Roles) -> Iterator[tuple[str, Sql, str, str | None]]:
    yield from ((k.column, k.k, k.sql_type, k.mask) for k in roles.kept)
    yield from ((s.column, s.s, s.sql_type, None) for s in roles.sensitive)


def identity(policy: Policy, roles: Roles, profile: TableProfile) -> Sql:
    """The identity of a row's person, as text: the person, else the key, else the row's content."""
    if policy.person is not None:
        return person_text("person", profile.type_of(policy.person))
    if policy.key is not None:
        return same_text("identity", profile.type_of(policy.key))
    texts: list[Any] = [f"coalesce(cast({a.q} as varchar), '')" for a in roles.quasi]
    sizes = [f"coalesce(strlen(cast({a.q} as varchar)), -1)" for a in roles.quasi]
    parts = [part for pair in zip(sizes, texts, strict=True) for part in (*pair, "':'")]
    # with only quasi-identifiers, the snapshot has no column `identity`
    if len(policy.columns) > len(roles.quasi):
        parts.append("identity")
    listed = ", ".join(parts)
    # equal rows are distinguished by a number; their order is irrelevant
    return Sql(f"concat(row_number() over (partition by concat({listed})), ':', {listed})")


# The further tables of a release of several: what the ledger stores of their rows.


@dataclass(frozen=True, slots=True)
class Written:
    """A further table after writing: its rows with their originals, and its layout."""

    child: Child
    layout: Layout


@dataclass(frozen=True, slots=True)
class Further:
    """A table besides the persons', as the ledger reads it."""

    name: str
    kept: Table
    """The originals (alias `o`), each with the row of its person."""
    link: Table
    """The published rows (alias `l`)."""
    key: str | None
    """The kind of its key; None without a key."""
    columns: str
    """Its event columns, and everything that their true values depend on."""
    values: tuple[Sql, ...]
    """The true values of its events, if an observer may know them."""
    cells: tuple[Sql, ...]
    """The published cells of its events."""
    counted: bool
    """True if an observer may know how many rows a person has."""
    facets: tuple[Facet, ...]
    marks: tuple[Mark, ...]

    @property
    def remembered(self) -> bool:
        """True if its rows are stored individually."""
        return self.counted or bool(self.values)

    @property
    def content(self) -> Sql:
        """The true event values of a row as one text."""
        return _text(self.values)

    @property
    def event_text(self) -> Sql:
        """The published event cells of a row as one text."""
        return _text(self.cells)

    @property
    def label(self) -> Sql:
        """The prefix of the text that is digested for its rows."""
        return lit(f":{len(self.name)}:{self.name}:")


def further(
    policy: SchemaPolicy,
    written: Iterable[Written],
    group: str | None,
    facets_before: int,
    marks_before: int,
) -> Iterator[Further]:
    """The tables with columns numbered after those of the persons; `group`: the persons' class."""
    knows, number, mark_number = policy.knows, facets_before, marks_before
    for one in written:
        child, table = one.child, policy.tables[one.child.name]
        described = replace(one.layout, class_id=group)
        found = tuple(
            replace(
                f,
                column=f"{child.name}.{f.column}",
                index=f.index + number,
                rows=child.kept,
                path=table_path(child.name, "columns", f.column),
            )
            for f in facets(child.policy, child.roles, described, reserved(policy, child.name))
        )
        named = tuple(
            replace(
                m,
                index=m.index + mark_number,
                physical=Sql(f"o.{m.physical}"),
                path=table_path(child.name, "columns", m.column),
            )
            for m in marks(child.policy, child.roles)
        )
        number, mark_number = number + len(found), mark_number + len(named)
        known = sorted(child.attributes, key=lambda a: a.column) if knows.events else ()
        shown = sorted(quasi(one.layout), key=lambda c: c.column) if knows.events else ()
        yield Further(
            name=child.name,
            kept=child.kept,
            link=child.linked,
            key=family(child.profile.type_of(table.key)) if table.key is not None else None,
            columns=", ".join(
                f"{c.column}: {family(c.sql_type)}, {c.bottom} to {c.top}" for c in shown
            ),
            values=tuple(Sql(f"o.{a.q}") for a in known),
            cells=tuple(Sql(f"l.{ident(part)}") for c in shown for part in cell_parts(c)),
            counted=knows.rows,
            facets=found,
            marks=named,
        )


def reserved(policy: AnyPolicy, name: str | None) -> frozenset[str]:
    """Columns with an identity-reserved rule, which a single-table policy does not have."""
    return frozenset(column for table, column in policy.reserved if table == name)


def _text(values: Sequence[Sql]) -> Sql:
    """Texts with their lengths, so that the result is unambiguous."""
    text = "coalesce(strlen(cast({0} as varchar)), -1), ':', cast({0} as varchar)"
    return Sql(f"concat({', '.join(text.format(value) for value in values)})")
