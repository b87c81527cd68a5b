-- hierarchy_1.guard_range: A range of values that is too wide to count its points in 64 bits. (stops the run if it returns rows)
select count(*) as distinct_values
from anon_scratch.main.values_1
having (max(cast(value as double)) - least(min(cast(value as double)), 1)) * 1 > 4000000000000000000
    or max(abs(cast(value as double))) * 1 > cast(1e37 as double);

-- hierarchy_1.grid_points: The points between the ends of the domain: where they begin, how many there are.
create or replace table anon_scratch.main.grid_1 as
with ends as (
    select min(cast(value as hugeint)) as lowest, max(cast(value as hugeint)) as highest
    from anon_scratch.main.values_1
)
select
    cast(case when lowest >= 1 then 1 else lowest - ((lowest % 1) + 1) % 1 end as hugeint) as origin,
    cast(1 as hugeint) as step,
    cast(highest - (case when lowest >= 1 then 1 else lowest - ((lowest % 1) + 1) % 1 end) + 1 as bigint) as points
from ends
where lowest is not null;

-- hierarchy_1.positions: Where each value lies on the grid, counted from 0.
create or replace table anon_scratch.main.positions_1 as
select v.value, v.n, cast(cast(value as hugeint) - g.origin as bigint) as position
from anon_scratch.main.values_1 as v
cross join anon_scratch.main.grid_1 as g;

-- hierarchy_1.widths_given: Divisor hierarchy: the widths of its levels as the policy gives them.
create or replace table anon_scratch.main.widths_1 as
select cast(given * 1 as bigint) as width
from (
    select unnest([5, 10]) as given
) as list;

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
    cast(least(greatest(first_at, cast('-2147483648' as hugeint)), cast('2147483647' as hugeint)) as INTEGER) as lo,
    cast(least(greatest((past_at - 1), cast('-2147483648' as hugeint)), cast('2147483647' as hugeint)) as INTEGER) as hi,
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
