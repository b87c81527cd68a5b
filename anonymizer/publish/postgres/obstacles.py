"""What prevents a release in a Postgres database, found before anything is read."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.compile import Table, ident
from anonymizer.engines.postgres import LONGEST
from anonymizer.engines.postgres.connection import PostgresEngine
from anonymizer.engines.postgres.dialect_words import is_long
from anonymizer.engines.postgres.record import has_schema, may_make_schemas, record_of
from anonymizer.errors import Problem, TargetError
from anonymizer.publish.postgres.hanging import hanging
from anonymizer.publish.postgres.objects import recorded
from anonymizer.release.names import Names
from anonymizer.release.objects import Recorded

PRESENT = """
    select relname from pg_class where relnamespace = to_regnamespace(%(schema)s)
    union
    select typname from pg_type
    where typnamespace = to_regnamespace(%(schema)s) and typcategory <> 'A'
"""
"""Every name that no new table or view of a schema can have."""
GRANT = "publish.grant_select"


def unfit_names(engine: PostgresEngine, names: Names, tables: Sequence[Table]) -> list[Problem]:
    """Names that are too long, and those that something of the schema has already."""
    made = [("publish.schema", names.schema), *(("publish.name", t.name) for t in tables)]
    long = [
        Problem(
            path,
            f"makes the name {name}, and Postgres cuts names off",
            allowed=f"{LONGEST} bytes",
        )
        for path, name in made
        if is_long(name)
    ]
    ours = {(item.schema, item.name) for item in recorded(engine)}
    present = engine.native(PRESENT, "publish", {"schema": ident(names.schema).text})
    taken = {(names.schema, str(name)) for (name,) in present} - ours
    return long + [
        Problem(
            "publish.name",
            f"{names.schema}.{table.name} exists and was not published by this tool",
            hint="choose another publish.name or publish.schema",
        )
        for table in tables
        if (table.schema, table.name) in taken
    ]


def forbidden(engine: PostgresEngine, schema: str) -> list[Problem]:
    """The problem if the role may not create objects in the schema, or not record them."""
    if schema.startswith("pg_"):
        return [Problem("publish.schema", "is a name that Postgres keeps for itself")]
    may = may_make_schemas(engine)
    if has_schema(engine, schema):
        text = "select has_schema_privilege(%s, 'create')"
        may = engine.native(text, "publish", (schema,))[0][0]
    said, hint = f"lets this role create nothing in {schema}", "grant create on schema … to …"
    if not may:
        return [Problem("publish.schema", said, hint=hint)]
    try:
        record_of(engine, schema)
    except TargetError as error:
        return list(error.problems)
    return []


def irreplaceable(engine: PostgresEngine, names: Names) -> list[Problem]:
    """What prevents this role from replacing the objects of the old release."""
    problems = []
    for item in recorded(engine):
        if item.release != names.release:
            continue
        made = "view" if item.kind == "view" else "table"
        rows = engine.native(
            "select case relkind when 'v' then 'view' when 'r' then 'table' end,"
            " pg_has_role(current_user, relowner, 'usage'), pg_get_userbyid(relowner)"
            " from pg_class where oid = to_regclass(%s)",
            "publish",
            (ident(Table(item.name, item.schema)).text,),
        )
        for kind, ours, owner in rows:
            if kind != made:
                said = f"{item.name} was published as a {made}, and is another object now"
                problems.append(Problem(names.path, said, hint=names.other))
            elif not ours:
                said = f"{item.name}, which is to be replaced, belongs to the role {owner}"
                hint = f"run as that role or one of its members, or {names.other}"
                problems.append(Problem(names.path, said, hint=hint))
            elif item.kind != "view":  # which may stay
                problems += hanging_on(engine, names, item)
    return problems


def hanging_on(engine: PostgresEngine, names: Names, item: Recorded) -> list[Problem]:
    """The problem if something besides the view depends on an object that is dropped."""
    own = "select 'the view ' || to_regclass(%s)::text"
    ((view,),) = engine.native(own, "publish", (ident(names.view(None)).text,))
    found = [one for one in hanging(engine, Table(item.name, item.schema)) if one != view]
    said = f"{item.name} is replaced, and on it hangs {', '.join(found)}"
    hint = "remove it, and make it again on the new release; or another publish.name"
    return [Problem(names.path, said, hint=hint)] if found else []


def unreadable(engine: PostgresEngine, schema: str, roles: Sequence[str]) -> list[Problem]:
    """What prevents roles from reading a release in the schema, although they are granted it."""
    problems = []
    for role in roles:
        if not _is_role(engine, role):
            said = f"{role} is not a role of this server"
            hint = "create it first, or mend its name (case counts)"
            problems.append(Problem(GRANT, said, hint=hint))
            continue
        # to the server, a grant without the right to it is no error, but a warning
        closed = engine.native(
            "select pg_get_userbyid(nspowner) from pg_namespace where nspname = %s"
            " and not has_schema_privilege(%s, oid, 'usage')"
            " and not has_schema_privilege(oid, 'usage with grant option')",
            "publish",
            (schema, role),
        )
        for (owner,) in closed:
            said = f"{role} may not use the schema {schema}, and this role cannot let it"
            grant = f"grant usage on schema {ident(schema)} to {ident(role)}"
            hint = f"{grant}, as its owner {owner}; or choose another publish.schema"
            problems.append(Problem(GRANT, said, hint=hint))
    return problems


def role_warnings(
    engine: PostgresEngine, role: str, raw: Sequence[Table], source: Table | None
) -> list[str]:
    """A warning for each table with what is anonymized (`raw`) of which a role reads a column."""
    if not _is_role(engine, role):
        return []
    found = []
    connects = "select has_database_privilege(%s, current_database(), 'connect')"
    if not engine.native(connects, "publish", (role,))[0][0]:
        found.append(
            f"the role {role} may not connect to this database: grant connect on database … to it,"
            " or it cannot read the release"
        )
    may = "select has_any_column_privilege(%s, to_regclass(%s)::oid, 'select')"
    for table in raw:
        name = ident(Table(table.name, table.schema)).text
        if engine.native(may, "publish", (role, name))[0][0]:
            which = "" if table == source else f" {table.schema}.{table.name}"
            found.append(
                f"the role {role} can read the source table{which} as well: revoke that, or the"
                " release protects nothing from it"
            )
    return found


def _is_role(engine: PostgresEngine, name: str) -> bool:
    return bool(engine.native("select 1 from pg_roles where rolname = %s", "publish", (name,)))
