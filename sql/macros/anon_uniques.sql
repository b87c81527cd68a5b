-- How many rows are unique: no other row has the same values in the given columns.
--
-- tbl      name of a table or view
-- quasi    its quasi-identifiers, a list of columns
-- returns  one row: uniques, rows, and share
-- empty    0, 0, NULL
--
-- example  from anon_uniques('adult', ['age', 'sex', 'race']);
create or replace temp macro anon_uniques(tbl varchar, quasi varchar[]) as table
with source as (
    from query(
        _anon_query(
            'anon_uniques',
            tbl,
            _anon_columns('anon_uniques', 'quasi', quasi),
            _anon_row(quasi) || ' as q'
        )
    )
),
classes as (select count(*) as n from source group by q)
select
    count(*) filter (where n = 1) as uniques,
    cast(coalesce(sum(n), 0) as bigint) as rows,
    count(*) filter (where n = 1) / cast(nullif(sum(n), 0) as double) as share
from classes;

comment on macro table anon_uniques is
    'Unique rows: from anon_uniques(table, [columns])';
