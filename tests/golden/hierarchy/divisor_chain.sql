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

primes as (
    select d.divisor as prime
    from divisors as d
    left join divisors as smaller
        on smaller.divisor > 1 and smaller.divisor < d.divisor and d.divisor % smaller.divisor = 0
    where d.divisor > 1
    group by d.divisor
    having count(smaller.divisor) = 0
),

kept (divisor, whole) as (
    select min(divisor), whole
    from divisors
    where divisor >= 10 or divisor = whole
    group by whole
    union all
    -- multiply by the largest prime that is left: narrow levels first grow fast, then double
    select max(k.divisor * p.prime), k.whole
    from kept as k
    inner join primes as p on cast(k.whole / k.divisor as bigint) % p.prime = 0
    group by k.whole
)

select divisor * 1 as width
from kept
where divisor * 1 > 1 or whole = 1;

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
