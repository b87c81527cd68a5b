-- The discernibility of a table (Bayardo and Agrawal 2005): the sum of the squared sizes of its
-- classes, so every row costs the size of its class; and a suppressed row costs as much as there
-- are rows in all.
--
-- tbl         name of a table or view
-- quasi       its quasi-identifiers, or its class number, a list of columns
-- suppressed  rows that were left out of the table
-- returns     one row: c_dm
-- empty       0
--
-- example     from anon_discernibility('adult', ['age', 'sex', 'race']);
create or replace temp macro anon_discernibility(tbl varchar, quasi varchar[], suppressed := 0) as table
with source as (
    from query(
        _anon_query(
            'anon_discernibility',
            tbl,
            _anon_columns('anon_discernibility', 'quasi', quasi),
            _anon_row(quasi) || ' as q'
            || _anon_checked(_anon_at_least('anon_discernibility', 'suppressed', suppressed, 0))
        )
    )
),
classes as (select count(*) as n from source group by q)
select cast(
    coalesce(sum(cast(n as hugeint) * n), 0) + suppressed * (coalesce(sum(n), 0) + suppressed) as hugeint
) as c_dm
from classes;

comment on macro table anon_discernibility is
    'Sum of the squared class sizes: from anon_discernibility(table, [columns], suppressed := 0)';
