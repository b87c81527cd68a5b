"""Comments and grants: those of default privileges go, those that somebody gave are kept."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from anonymizer.compile import Table, ident, quote
from anonymizer.engines.postgres.connection import PostgresEngine

Kind: TypeAlias = Literal["table", "view"]
ACL = {
    "table": "select relacl, relowner from pg_class where oid = to_regclass(%s)",
    "schema": "select nspacl, nspowner from pg_namespace where oid = to_regnamespace(%s)",
}
GRANTS = """
    select a.attname, given.privilege_type,
        case when given.grantee <> 0 then pg_get_userbyid(given.grantee) end, given.is_grantable
    from pg_class c
    cross join lateral (
        select null::name as attname, c.relacl as acl
        union all
        select attname, attacl from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped
    ) as a
    cross join lateral aclexplode(a.acl) as given
    where c.oid = to_regclass(%s) and given.grantee <> c.relowner
    order by 1, 3, 2
"""
COMMENTS = """
    select a.attname, quote_literal(d.description)
    from pg_description d
    left join pg_attribute a on d.objsubid > 0 and a.attrelid = d.objoid and a.attnum = d.objsubid
    where d.objoid = to_regclass(%s) and d.classoid = 'pg_class'::regclass
    order by 1
"""


def make_private(
    engine: PostgresEngine, kind: Literal["table", "schema"], name: str, where: str
) -> None:
    """Revoke what `alter default privileges` has granted on a new table or schema."""
    rows = engine.native(
        "select distinct case when a.grantee <> 0 then pg_get_userbyid(a.grantee) end"
        f" from ({ACL[kind]}) as made (acl, owner), aclexplode(made.acl) as a"
        " where a.grantee <> made.owner",
        where,
        (name,),
    )
    for (role,) in rows:
        engine.native(f"revoke all on {kind} {name} from {_whom(role)} cascade", where)


def _whom(role: object) -> str:
    return "public" if role is None else quote(str(role))


@dataclass(frozen=True, slots=True)
class Given:
    """What somebody has put on a table or view, and is lost when it is dropped."""

    grants: tuple[tuple[str | None, str, str | None, bool], ...]
    """Column (None: the whole), privilege, role (None: public), and whether it may be passed on."""
    comments: tuple[tuple[str | None, str], ...]
    """Column (None: the whole), and the text as a literal."""

    @classmethod
    def on(cls, engine: PostgresEngine, table: Table, where: str) -> Given:
        """The grants and comments on a table or view; none if it does not exist."""
        name = (ident(table).text,)
        grants = engine.native(GRANTS, where, name)
        return cls(tuple(grants), tuple(engine.native(COMMENTS, where, name)))

    @property
    def roles(self) -> tuple[str, ...]:
        """Every role that has a grant on it."""
        return tuple(dict.fromkeys(role or "public" for _, _, role, _ in self.grants))

    def without(self, roles: Collection[str]) -> Given:
        """The same without SELECT on the whole for these roles."""
        kept = (g for g in self.grants if g[:2] != (None, "SELECT") or g[2] not in roles)
        return Given(tuple(kept), self.comments)

    def give(
        self,
        engine: PostgresEngine,
        table: Table,
        where: str,
        kind: Kind = "table",
    ) -> None:
        """Put the grants and comments on a new table or view, as far as it has the columns."""
        name = ident(table).text
        columns = {None, *(column for column, _ in engine.describe(name, where))}
        for column, privilege, role, passes in self.grants:
            if column in columns:
                part = "" if column is None else f" ({quote(column)})"
                option = " with grant option" if passes else ""
                engine.native(f"grant {privilege}{part} on {name} to {_whom(role)}{option}", where)
        for column, text in self.comments:
            if column in columns:
                what = f"{kind} {name}" if column is None else f"column {name}.{quote(column)}"
                engine.native(f"comment on {what} is {text}", where)
