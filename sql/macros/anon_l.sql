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
classes as (select q, count(s) as n from source group by q),
counts as (select q, count(*) as n from source where s is not null group by q, s),
ranked as (select q, n, row_number() over (partition by q order by n desc) as place from counts),
sums as (
    select
        q,
        count(*) as different,
        sum(n * ln(n)) as weighted,
        max(n) as most,
        coalesce(sum(n) filter (where place >= l), 0) as tail
    from ranked
    group by q
),
judged as (
    select
        coalesce(u.different, 0) as different,
        case when c.n > 0 then round(exp(ln(c.n) - u.weighted / c.n), 12) else 0 end as effective,
        case when u.tail > 0 then u.most / cast(u.tail as double) else cast('inf' as double) end as outweighs
    from classes c
    left join sums u on u.q = c.q
)
select min(different) as distinct_l, min(effective) as entropy_l, max(outweighs) as recursive_c
from judged;

comment on macro table anon_l is
    'Distinct, entropy and recursive l-diversity: from anon_l(table, [columns], sensitive column, l := 2)';
