-- The t-closeness of a table (Li et al. 2007): the largest distance of a class from the whole table.
-- NULL is a category of its own (the first in order).
--
-- tbl        name of a table or view
-- quasi      its quasi-identifiers, a list of columns
-- sensitive  the column to protect
-- returns    one row: t_equal, by the equal ground distance; t_ordered, by the ordered one, in
--            the order of the column's type.
-- empty      NULL, NULL
--
-- example    from anon_t('adult', ['age', 'sex'], 'education');
create or replace temp macro anon_t(tbl varchar, quasi varchar[], sensitive varchar) as table
with source as (
    from query(
        _anon_query(
            'anon_t',
            tbl,
            _anon_columns('anon_t', 'quasi', quasi)
            || _anon_columns('anon_t', 'sensitive', [sensitive]),
            _anon_row(quasi) || ' as q, ' || _anon_name(sensitive) || ' as s'
        )
    )
),
counts as (select q, s, count(*) as n from source group by q, s),
totals as (select q, sum(n) as total from counts group by q),
reference as (select s, count(*) as q_of_value from source group by s),
cumulated as (
    select
        s,
        q_of_value,
        row_number() over w as place,
        sum(q_of_value) over (w rows unbounded preceding) as upto
    from reference
    window w as (order by s nulls first)
),
-- `area` is the sum of the cumulative counts up to a place
places as (select *, sum(upto) over (order by place rows unbounded preceding) as area from cumulated),
total as (
    select
        count(s) as m,
        count(*) as last,
        cast(sum(q_of_value) as bigint) as q_size,
        cast(coalesce(sum(q_of_value) filter (where s is not null), 0) as bigint) as q_known,
        max(area) as area
    from places
),
-- between two values of a class its cumulative share is constant: one run for each value
runs as (
    select
        c.q,
        c.n,
        p.q_of_value,
        w.m,
        w.q_size,
        w.q_known,
        t.total as group_size,
        p.place,
        p.area - p.upto as before,
        sum(c.n) over (by_value rows unbounded preceding) * w.q_size as level,
        coalesce(lead(p.place) over by_value, w.last + 1) - 1 as last_place,
        coalesce(lead(p.area - p.upto) over by_value, w.area) as last_area,
        row_number() over by_value as number
    from counts c
    join totals t on t.q = c.q
    join places p on p.s is not distinct from c.s
    cross join total w
    window by_value as (partition by c.q order by p.place)
),
-- the last place at which the table has not yet overtaken the class
crossed as (
    select
        r.*,
        least(greatest(coalesce(p.place, 0), r.place - 1), r.last_place) as crossing
    from (select *, level // group_size as level_in_table from runs) r
    asof left join places p on r.level_in_table >= p.upto
),
areas as (
    select
        c.*,
        case when number = 1 then before * group_size else 0 end
        + (crossing - c.place + 1) * level - group_size * (coalesce(p.area, 0) - before)
        + group_size * (last_area - coalesce(p.area, 0)) - (last_place - crossing) * level as run_area
    from crossed c
    left join places p on p.place = c.crossing
),
distances as (
    select
        _anon_t_equal(group_size, n, q_of_value, q_size) as t_equal,
        _anon_t_ordered(m, n, q_known, q_size, run_area) as t_ordered
    from areas
    group by q
)
select max(t_equal) as t_equal, max(t_ordered) as t_ordered
from distances;

comment on macro table anon_t is
    't-closeness by equal and by ordered distance: from anon_t(table, [columns], sensitive column)';
