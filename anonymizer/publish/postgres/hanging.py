"""Dependents of a table or view, which would be lost with it or would show other rows."""

from __future__ import annotations

from anonymizer.compile import Table, ident
from anonymizer.engines.postgres.connection import PostgresEngine

HANGING = """
    select 'the view ' || v.oid::regclass::text
    from pg_depend d join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class
    where d.refobjid = %(table)s::regclass and d.classid = 'pg_rewrite'::regclass
        and v.oid <> d.refobjid
    union
    select 'the foreign key ' || conname || ' of ' || conrelid::regclass::text
    from pg_constraint where contype = 'f' and confrelid = %(table)s::regclass
    union
    select 'the trigger ' || tgname
    from pg_trigger where tgrelid = %(table)s::regclass and not tgisinternal
    union
    select 'the rule ' || rulename
    from pg_rewrite where ev_class = %(table)s::regclass and rulename <> '_RETURN'
    union
    select 'the policy ' || polname from pg_policy where polrelid = %(table)s::regclass
    union
    select 'the table ' || inhrelid::regclass::text || ', which inherits from it'
    from pg_inherits where inhparent = %(table)s::regclass
    union
    select 'the table ' || inhparent::regclass::text || ', of which it is a part'
    from pg_inherits where inhrelid = %(table)s::regclass
    union
    select 'the publication ' || p.pubname
    from pg_publication_tables p join pg_class c on c.relname = p.tablename
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = p.schemaname
    where c.oid = %(table)s::regclass
    union
    select 'row security, which is on'
    from pg_class where oid = %(table)s::regclass and (relrowsecurity or relforcerowsecurity)
    union
    select pg_describe_object(d.classid, d.objid, d.objsubid)
    from pg_depend d
    where d.deptype = 'n' and (
        d.refclassid = 'pg_class'::regclass and d.refobjid = %(table)s::regclass
            and d.classid = 'pg_proc'::regclass
        or d.refclassid = 'pg_type'::regclass and d.refobjid in (
            select unnest(array[oid, typarray]) from pg_type where typrelid = %(table)s::regclass)
    )
    union
    select 'the default of ' || a.adrelid::regclass::text || ', by a sequence of the table'
    from pg_depend owned join pg_depend d on d.refobjid = owned.objid
    join pg_attrdef a on a.oid = d.objid
    where owned.refobjid = %(table)s::regclass and owned.classid = 'pg_class'::regclass
        and owned.deptype in ('a', 'i') and d.classid = 'pg_attrdef'::regclass
        and a.adrelid <> %(table)s::regclass
    order by 1
"""
COLUMN_GRANTS = """
    select 'grants on its column ' || attname
    from pg_attribute where attrelid = %(table)s::regclass and attacl is not null
    order by 1
"""
"""What a release that replaces its source does not keep."""
LOST = """
    select 'the index ' || indexrelid::regclass::text
    from pg_index where indrelid = %(table)s::regclass
        and indexrelid not in (select conindid from pg_constraint where conrelid = indrelid)
    union
    select 'the constraint ' || conname
    from pg_constraint where conrelid = %(table)s::regclass and contype <> 'n'
    union
    select 'the statistics ' || stxname from pg_statistic_ext where stxrelid = %(table)s::regclass
    union
    select case when objsubid = 0 then 'its comment' else 'comments on its columns' end
    from pg_description where objoid = %(table)s::regclass and classoid = 'pg_class'::regclass
    order by 1
"""
"""What goes with a table, besides its rows and its columns."""
COLUMNS = """
    select attname, atttypid, atttypmod, attcollation from pg_attribute
    where attrelid = to_regclass(%s) and attnum > 0 and not attisdropped order by attnum
"""


def hanging(engine: PostgresEngine, table: Table) -> list[str]:
    """Describe every dependent of a table or view; empty if it does not exist."""
    return _described(engine, table, HANGING)


def column_grants(engine: PostgresEngine, table: Table) -> list[str]:
    """Describe the grants on single columns of a table; empty if it does not exist."""
    return _described(engine, table, COLUMN_GRANTS)


def lost(engine: PostgresEngine, table: Table) -> list[str]:
    """Describe what is dropped with a table; empty if it does not exist."""
    return _described(engine, table, LOST)


def _described(engine: PostgresEngine, table: Table, query: str) -> list[str]:
    name = ident(table).text
    if engine.native("select to_regclass(%s)", "publish", (name,))[0][0] is None:
        return []
    return [str(said) for (said,) in engine.native(query, "publish", {"table": name})]


def same_columns(engine: PostgresEngine, one: Table, other: Table) -> bool:
    """Whether two tables have the same columns in the same order."""
    first, second = (
        engine.native(COLUMNS, "publish", (ident(table).text,)) for table in (one, other)
    )
    return first == second
