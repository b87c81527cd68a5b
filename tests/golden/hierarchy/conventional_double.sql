-- hierarchy_1.guard_values: Values that the builder cannot place: how many there are, and in how many rows. (stops the run if it returns rows)
select count(*) as distinct_values, cast(sum(n) as bigint) as row_count
from anon_scratch.main.values_1
where not isfinite(value)
having count(*) > 0;

-- hierarchy_1.guard_range: A range of values that is too wide to count its points in 64 bits. (stops the run if it returns rows)
select count(*) as distinct_values
from anon_scratch.main.values_1
having (max(cast(value as double)) - min(cast(value as double))) * 1 > 4000000000000000000
    or max(abs(cast(value as double))) * 1 > cast(1e37 as double);

-- hierarchy_1.grid_reals: A grid over the domain of a floating-point column, so that intervals end on grid points.
create or replace table anon_scratch.main.grid_1 as
with ends as (
    select
        cast(min(cast(value as double)) as double) as lowest,
        cast(max(cast(value as double)) as double) as highest,
        count(*) as distinct_values
    from anon_scratch.main.values_1
),

widths as (
    select
        *,
        highest - lowest as span,
        coalesce(NULL, (highest - lowest) / least(distinct_values, 65536)) as leaf
    from ends
    where lowest is not null
),

shaped as (
    select
        lowest as origin,
        highest as last,
        span,
        cast(
            pow(2, coalesce(greatest(0, least(20, floor(log2(nullif(span, 0) / leaf)))), 0))
            as bigint
        ) as points
    from widths
)

select origin, span / points as step, points, last
from shaped;

-- hierarchy_1.positions: Where each value lies on the grid, counted from 0.
create or replace table anon_scratch.main.positions_1 as
with guessed as (
    select
        v.value,
        v.n,
        cast(value as double) as exact_at,
        g.*,
        coalesce(
            greatest(0, least(g.points - 1, floor((cast(value as double) - g.origin) / nullif(g.step, 0)))),
            0
        ) as guess
    from anon_scratch.main.values_1 as v
    cross join anon_scratch.main.grid_1 as g
)

select
    value,
    n,
    -- a quotient can round across a grid point; the bounds themselves decide
    cast(
        case
            when guess > 0 and origin + guess * step > exact_at then guess - 1
            when guess + 1 < points and origin + (guess + 1) * step <= exact_at then guess + 1
            else guess
        end as bigint
    ) as position
from guessed;

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
    cast(first_at as DOUBLE) as lo,
    cast(past_at as DOUBLE) as hi,
    cast(null as varchar) as label
from (
    select
        i.value,
        i.level,
        i.first,
        g.origin + i.first * g.step as first_at,
        case when i.past = g.points then g.last else g.origin + i.past * g.step end as past_at
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
        when cast(lo as varchar) = cast(hi as varchar) then cast(lo as varchar)
        else '[' || cast(lo as varchar) || ', ' || cast(hi as varchar) || ']'
    end as label,
    count(*) over (partition by level, place) as leaves,
    lo,
    hi
from placed;
