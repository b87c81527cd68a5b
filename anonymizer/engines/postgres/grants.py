"""Restricts new objects to their owner, whatever the default privileges of the database."""

from __future__ import annotations

from typing import Literal

from anonymizer.compile import quote
from anonymizer.engines.postgres.connection import PostgresEngine

ACL = {
    "table": "select relacl, relowner from pg_class where oid = to_regclass(%s)",
    "schema": "select nspacl, nspowner from pg_namespace where oid = to_regnamespace(%s)",
}


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
        whom = "public" if role is None else quote(str(role))
        engine.native(f"revoke all on {kind} {name} from {whom}", where)
