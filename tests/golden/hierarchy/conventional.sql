-- hierarchy_1.guard_range: A range of values that is too wide to count its points in 64 bits. (stops the run if it returns rows)
select count(*) as distinct_values
from anon_scratch.main.values_1
having (max(cast(value as double)) - min(cast(value as double))) * 1 > 4000000000000000000
    or max(abs(cast(value as double))) * 1 > cast(1e37 as double);

-- hierarchy_1.grid_points: The points between the ends of the domain: where they begin, how many there are.
create or replace table anon_scratch.main.grid_1 as
with ends as (
    select min(cast(value as hugeint)) as lowest, max(cast(value as hugeint)) as highest
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
select v.value, v.n, cast(cast(value as hugeint) - g.origin as bigint) as position
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
    where width / 2 >= CAST(10.0 AS DOUBLE)
        and width / 2 > 1
)

select value, cast(max(depth) over () - depth + 1 as integer) as level, first, past
from halves;

-- hierarchy_1.bounds: Intervals of grid points as bounds in the column's type.
create or replace table anon_scratch.main.bounds_1 as
select
    value,
    level,
    first as place,
    cast(least(greatest(first_at, cast('-32768' as hugeint)), cast('32767' as hugeint)) as SMALLINT) as lo,
    cast(least(greatest((past_at - 1), cast('-32768' as hugeint)), cast('32767' as hugeint)) as SMALLINT) as hi,
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
        cast(cast(value as hugeint) - cast(lowest as hugeint) + 1 as bigint) as leaf,
        cast(cast(lo as hugeint) - cast(lowest as hugeint) + 1 as bigint) as node,
        cast(cast(hi as hugeint) - cast(lo as hugeint) + 1 as bigint) as leaves
    from anon_scratch.main.bounds_1 as b
    cross join extent as e
)

select
    value,
    leaf,
    level,
    node,
    case
        when level = top then '*'
        when label is not null then label
        when cast(lo as varchar) = cast(hi as varchar) then cast(lo as varchar)
        else '[' || cast(lo as varchar) || ', ' || cast(hi as varchar) || ']'
    end as label,
    leaves,
    lo,
    hi
from placed;
