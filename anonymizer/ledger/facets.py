"""The parts of a release that the ledger records: protected columns, and pseudonyms."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anonymizer.compile import NumberedColumn, Sql, Table, ident, lit
from anonymizer.contract.layout import Layout
from anonymizer.ledger.recognized import kind, person_text, same_text
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.privacy.of_policy.buckets import bucket_rule
from anonymizer.privacy.of_policy.rules import rules_of_any
from anonymizer.privacy.rule import Rule
from anonymizer.source.column_names import names_person
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles

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
    """Whether a signature lists every value once: that of a class, which may have many rows."""
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
        """Whether values were distributed to buckets, so that the group is not the class."""
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
    """Whether it holds tokens, which are equal in all columns under one key."""
    unnamed: bool = False
    """Whether neither the policy nor its name marks it as identifying; then its values decide."""

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
