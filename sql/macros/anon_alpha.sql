-- The largest share that one sensitive value has of a class (Wong et al. 2006), NULLs left out.
--
-- tbl        name of a table or view
-- quasi      its quasi-identifiers, a list of columns
-- sensitive  the column to protect
-- returns    one row: alpha; infinity if all values of a class are NULL: no rule holds there
-- empty      NULL
--
-- example    from anon_alpha('adult', ['age', 'sex'], 'occupation');
create or replace temp macro anon_alpha(tbl varchar, quasi varchar[], sensitive varchar) as table
with source as (
    from query(
        _anon_query(
            'anon_alpha',
            tbl,
            _anon_columns('anon_alpha', 'quasi', quasi)
            || _anon_columns('anon_alpha', 'sensitive', [sensitive]),
            _anon_row(quasi) || ' as q, ' || _anon_name(sensitive) || ' as s'
        )
    )
),
counts as (
    select q, case when s is null then 0 else 1 end as value, count(*) as n
    from source
    group by q, s
),
classes as (select _anon_alpha(n, value) as share from counts group by q)
select max(share) as alpha
from classes;

comment on macro table anon_alpha is
    'Largest share of one sensitive value in a class: from anon_alpha(table, [columns], sensitive column)';
