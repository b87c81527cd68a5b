-- hierarchy_1.guard_values: Values that the builder cannot place: how many there are, and in how many rows. (stops the run if it returns rows)
select count(*) as distinct_values, cast(sum(n) as bigint) as row_count
from anon_scratch.main.values_1
where not isfinite(value)
having count(*) > 0;

-- hierarchy_1.grid_points: The points between the ends of the domain: where they begin, how many there are.
create or replace table anon_scratch.main.grid_1 as
with ends as (
    select min(date_diff('day', DATE '1970-01-01', cast(cast(value as timestamp) as date))) as lowest, max(date_diff('day', DATE '1970-01-01', cast(cast(value as timestamp) as date))) as highest
    from anon_scratch.main.values_1
)
select
    cast(lowest as hugeint) as origin,
    cast(1 as hugeint) as step,
    cast(highest - (lowest) + 1 as bigint) as points
from ends
where lowest is not null;

-- hierarchy_1.positions: Where each value lies on the grid, counted from 0.
create or replace table anon_scratch.main.positions_1 as
select v.value, v.n, cast(date_diff('day', DATE '1970-01-01', cast(cast(value as timestamp) as date)) - g.origin as bigint) as position
from anon_scratch.main.values_1 as v
cross join anon_scratch.main.grid_1 as g;

-- hierarchy_1.halve: Conventional hierarchy: halve the domain while the halves are wide enough, left one larger. Every value descends on its own, so the work grows with the values and not with the domain.
create or replace table anon_scratch.main.intervals_1 as
with recursive halves (value, position, depth, first, past, width) as (
    select
        p.value, p.position, 0, cast(0 as bigint), g.points, cast(g.points as double)
    from anon_scratch.main.positions_1 as p
    cross join anon_scratch.main.grid_1 as g
    union all
    select
        value,
        position,
        depth + 1,
        case when position < middle then first else middle end,
        case when position < middle then middle else past end,
        width / 2
    from (
        select *, first + ((past - first + 1) >> 1) as middle
        from halves
    ) as wider
    where width / 2 >= CAST(1.0 AS DOUBLE)
)

select value, cast(max(depth) over () - depth + 1 as integer) as level, first, past
from halves;

-- hierarchy_1.bounds: Intervals of grid points as bounds in the column's type.
create or replace table anon_scratch.main.bounds_1 as
select
    value,
    level,
    first as place,
    make_timestamp(cast(first_at * 86400000000 as bigint)) as lo,
    make_timestamp(cast(past_at * 86400000000 as bigint) - 1) as hi,
    cast(null as varchar) as label
from (
    select
        i.value,
        i.level,
        i.first,
        g.origin + i.first * g.step as first_at,
        g.origin + i.past * g.step as past_at
    from anon_scratch.main.intervals_1 as i
    cross join anon_scratch.main.grid_1 as g
) as placed;

-- hierarchy_1.finish: The hierarchy of an ordered column: one row per value and level. Leaves are the points of the domain, or the distinct values where it has no points to count.
create or replace table anon_scratch.main.hierarchy_1 as
with extent as (
    select min(lo) as lowest, max(level) as top
    from anon_scratch.main.bounds_1
),

placed as (
    select
        b.*,
        e.top,
        dense_rank() over (order by b.value) as leaf
    from anon_scratch.main.bounds_1 as b
    cross join extent as e
)

select
    value,
    leaf,
    level,
    min(leaf) over (partition by level, place) as node,
    case
        when level = top then '*'
        when label is not null then label
        when case when cast(lo as timestamp) = date_trunc('day', cast(lo as timestamp)) and hi = make_timestamp(cast(epoch_us(date_trunc('day', cast(hi as timestamp)) + interval '1 day') as bigint) - 1) then cast(cast(cast(lo as timestamp) as date) as varchar) else cast(lo as varchar) end = case when cast(lo as timestamp) = date_trunc('day', cast(lo as timestamp)) and hi = make_timestamp(cast(epoch_us(date_trunc('day', cast(hi as timestamp)) + interval '1 day') as bigint) - 1) then cast(cast(cast(hi as timestamp) as date) as varchar) else cast(hi as varchar) end then case when cast(lo as timestamp) = date_trunc('day', cast(lo as timestamp)) and hi = make_timestamp(cast(epoch_us(date_trunc('day', cast(hi as timestamp)) + interval '1 day') as bigint) - 1) then cast(cast(cast(lo as timestamp) as date) as varchar) else cast(lo as varchar) end
        else '[' || case when cast(lo as timestamp) = date_trunc('day', cast(lo as timestamp)) and hi = make_timestamp(cast(epoch_us(date_trunc('day', cast(hi as timestamp)) + interval '1 day') as bigint) - 1) then cast(cast(cast(lo as timestamp) as date) as varchar) else cast(lo as varchar) end || ', ' || case when cast(lo as timestamp) = date_trunc('day', cast(lo as timestamp)) and hi = make_timestamp(cast(epoch_us(date_trunc('day', cast(hi as timestamp)) + interval '1 day') as bigint) - 1) then cast(cast(cast(hi as timestamp) as date) as varchar) else cast(hi as varchar) end || ']'
    end as label,
    count(*) over (partition by level, place) as leaves,
    lo,
    hi
from placed;
