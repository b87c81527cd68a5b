-- hierarchy_1.guard_values: Values that the builder cannot place: how many there are, and in how many rows. (stops the run if it returns rows)
select count(*) as distinct_values, cast(sum(n) as bigint) as row_count
from anon_scratch.main.values_1
where not isfinite(value)
having count(*) > 0;

-- hierarchy_1.guard_range: A range of values that is too wide to count its points in 64 bits. (stops the run if it returns rows)
select count(*) as distinct_values
from anon_scratch.main.values_1
having (max(cast(value as double)) - least(min(cast(value as double)), 1)) * 1 > 4000000000000000000
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
        case when lowest >= 1 then cast(1 as double) else floor(lowest) end as origin,
        highest
    from widths
)

select
    origin,
    cast(1 as double) as step,
    cast(floor(highest) - origin + 1 as bigint) as points,
    floor(highest) + 1 as last
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

-- hierarchy_1.guard_cells: More leaf intervals than a hierarchy should have. (stops the run if it returns rows)
select cast(floor(points / 1) as bigint) as leaves
from anon_scratch.main.grid_1
where floor(points / 1) > 1000000000000;

-- hierarchy_1.widths_found: Divisor hierarchy: the widths of its levels, from the divisors of the largest value. A prime has no divisor to use, so the number after it is divided instead.
create or replace table anon_scratch.main.widths_1 as
with recursive extent as (
    select cast(ceil(points / 1) as bigint) as whole
    from anon_scratch.main.grid_1
),

candidates as (
    select unnest([whole, whole + 1]) as whole, unnest([0, 1]) as added
    from extent
),

factors as (
    select c.whole, c.added, f.divisor
    from candidates as c
    cross join lateral generate_series(1, cast(floor(sqrt(c.whole)) as bigint)) as f (divisor)
    where c.whole % f.divisor = 0
),

divided as (
    select whole, added, divisor
    from factors
    union
    select whole, added, cast(whole / divisor as bigint)
    from factors
),

chosen as (
    select whole, added, count(*) = 2 and whole > 2 as prime
    from divided
    group by whole, added
),

divisors as (
    select d.whole, d.divisor
    from divided as d
    inner join chosen as given on given.added = 0
    where d.added = case when given.prime then 1 else 0 end
),

kept as (
    select divisor, whole
    from divisors
    where divisor >= 1 or divisor = whole
)

select divisor * 1 as width
from kept;

-- hierarchy_1.divide: Divisor hierarchy: the interval of each value at every width, and the root above them.
create or replace table anon_scratch.main.intervals_1 as
with levels as (
    select w.width, row_number() over (order by w.width) as level
    from anon_scratch.main.widths_1 as w
    cross join anon_scratch.main.grid_1 as g
    where w.width < g.points
),

rooted as (
    select width, level
    from levels
    union all
    -- the narrowest width that holds the whole domain, else the domain itself
    select
        coalesce(
            (select min(w.width) from anon_scratch.main.widths_1 as w where w.width >= g.points), g.points
        ),
        (select count(*) + 1 from levels)
    from anon_scratch.main.grid_1 as g
)

select
    p.value,
    cast(r.level as integer) as level,
    p.position - p.position % r.width as first,
    p.position - p.position % r.width + r.width as past
from anon_scratch.main.positions_1 as p
cross join rooted as r;

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
