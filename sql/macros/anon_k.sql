-- The k of a table (Samarati and Sweeney 1998): the rows of its smallest class.
--
-- tbl      name of a table or view
-- quasi    its quasi-identifiers, a list of columns
-- returns  one row: k
-- empty    NULL
--
-- example  from anon_k('adult', ['age', 'sex', 'race']);
create or replace temp macro anon_k(tbl varchar, quasi varchar[]) as table
with source as (
    from query(
        _anon_query(
            'anon_k',
            tbl,
            _anon_columns('anon_k', 'quasi', quasi),
            _anon_row(quasi) || ' as q'
        )
    )
),
classes as (select count(*) as n from source group by q)
select min(n) as k
from classes;

comment on macro table anon_k is
    'Rows of the smallest class: from anon_k(table, [columns])';
