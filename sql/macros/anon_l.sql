-- The l-diversity of a table in its three forms (Machanavajjhala et al. 2006), each for its worst
-- class. A NULL among the sensitive values counts towards none of them.
--
-- tbl        name of a table or view
-- quasi      its quasi-identifiers, a list of columns
-- sensitive  the column to protect
-- l          the l of the recursive form
-- returns    one row: distinct_l, the fewest different values; entropy_l, the least exp(entropy),
--            to 12 decimals: logarithms are rounded, and equal shares of 5 values have 5;
--            recursive_c: the table is recursively (c, l)-diverse for every c above it ('inf':
--            for none)
-- empty      NULL, NULL, NULL
--
-- example    from anon_l('adult', ['age', 'sex'], 'occupation', l := 3);
create or replace temp macro anon_l(tbl varchar, quasi varchar[], sensitive varchar, l := 2) as table
with source as (
    from query(
        _anon_query(
            'anon_l',
            tbl,
            _anon_columns('anon_l', 'quasi', quasi)
            || _anon_columns('anon_l', 'sensitive', [sensitive]),
            _anon_row(quasi) || ' as q, ' || _anon_name(sensitive) || ' as s' || _anon_checked(_anon_at_least('anon_l', 'l', l, 1))
        )
    )
),
counts as (
    select q, case when s is null then 0 else 1 end as value, count(*) as n
    from source
    group by q, s
),
ranked as (
    select *, row_number() over (partition by q, value order by n desc) as rank_by_count from counts
),
judged as (
    select
        _anon_distinct_l(n, value) as different,
        round(_anon_entropy_l(n, value), 12) as effective,
        _anon_recursive_cl(l, n, rank_by_count, value) as outweighs
    from ranked
    group by q
)
select min(different) as distinct_l, min(effective) as entropy_l, max(outweighs) as recursive_c
from judged;

comment on macro table anon_l is
    'Distinct, entropy and recursive l-diversity: from anon_l(table, [columns], sensitive column, l := 2)';
