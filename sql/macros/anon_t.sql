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
reference as (select s, sum(n) as m from counts group by s),
cumulated as (
    select
        s,
        m,
        row_number() over w as place,
        sum(m) over (w rows unbounded preceding) as upto
    from reference
    window w as (order by s nulls first)
),
-- `area` is the sum of the cumulative counts up to a place
places as (select *, sum(upto) over (order by place rows unbounded preceding) as area from cumulated),
whole as (select count(*) as m, max(upto) as everything, max(area) as area from places),
steps as (
    select
        c.q,
        c.n,
        t.total,
        p.m,
        p.place,
        p.area - p.upto as before,
        sum(c.n) over (w rows unbounded preceding) as reached,
        lead(p.place) over w as next_place,
        lead(p.area - p.upto) over w as next_before,
        row_number() over w as number
    from counts c
    join totals t on t.q = c.q
    join places p on p.s is not distinct from c.s
    window w as (partition by c.q order by p.place)
),
-- between two values of a class its cumulative share is constant: one run for each value
runs as (
    select
        q,
        n,
        r.m,
        total,
        place,
        before,
        e.everything,
        reached * e.everything as level,
        reached * e.everything // total as level_in_table,
        coalesce(next_place, e.m + 1) - 1 as last_place,
        coalesce(next_before, e.area) as last_area,
        case when number = 1 then before * total else 0 end as ahead
    from steps r
    cross join whole e
),
-- the last place at which the table has not yet overtaken the class
crossed as (
    select r.*, least(greatest(coalesce(p.place, 0), r.place - 1), r.last_place) as crossing
    from runs r
    asof left join places p on r.level_in_table >= p.upto
),
distances as (
    select
        c.q,
        min(total * everything) + sum(abs(n * everything - c.m * total) - c.m * total) as apart,
        min(total * everything) as unit,
        sum(
            ahead
            + (crossing - c.place + 1) * level - total * (coalesce(p.area, 0) - before)
            + total * (last_area - coalesce(p.area, 0)) - (last_place - crossing) * level
        ) as area
    from crossed c
    left join places p on p.place = c.crossing
    group by c.q
)
select
    max(apart / cast(2 * unit as double)) as t_equal,
    max(case when e.m > 1 then d.area / cast(unit * (e.m - 1) as double) else 0 end) as t_ordered
from distances d
cross join whole e;

comment on macro table anon_t is
    't-closeness by equal and by ordered distance: from anon_t(table, [columns], sensitive column)';
