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

-- hierarchy_1.guard_cells: More leaf intervals than a hierarchy should have. (stops the run if it returns rows)
select cast(floor(points / 10) as bigint) as leaves
from anon_scratch.main.grid_1
where floor(points / 10) > 1048576;

-- hierarchy_1.pair_nodes: Cardinality hierarchy: pair neighbouring nodes, level by level, until one is left. Of an odd number one node at an odd place stays alone: the one that makes the counts of the new level differ least (largest minus smallest), the leftmost of equals.
create or replace table anon_scratch.main.nodes_1 as
with recursive cells as (
    select
        points,
        10 as width,
        cast(greatest(1, (points - points % 10) / 10) as bigint) as leaves
    from anon_scratch.main.grid_1
),

counted as (
    select
        least(p.position - p.position % c.width, (c.leaves - 1) * c.width) as first,
        cast(sum(p.n) as bigint) as n
    from anon_scratch.main.positions_1 as p
    cross join cells as c
    group by 1
),

leaf_nodes as (
    select
        f.number + 1 as ordinal,
        f.number * c.width as first,
        case when f.number + 1 = c.leaves then c.points else (f.number + 1) * c.width end as past,
        c.leaves
    from cells as c
    cross join lateral generate_series(0, c.leaves - 1) as f (number)
),

paired (level, ordinal, first, past, n, total, alone) as (
    select
        0,
        l.ordinal,
        l.first,
        l.past,
        coalesce(k.n, 0),
        l.leaves,
        cast(null as bigint)
    from leaf_nodes as l
    left join counted as k on l.first = k.first
    union all
    select
        level + 1,
        parent,
        min(first),
        max(past),
        cast(sum(n) as bigint),
        max(total + 1) >> 1,
        max(alone)
    from (
        select
            level,
            first,
            past,
            n,
            total,
            alone,
            case when ordinal <= alone then (ordinal + 1) >> 1 else (ordinal >> 1) + 1 end
                as parent
        from (
            select
                level,
                ordinal,
                first,
                past,
                n,
                total,
                case
                    when total % 2 = 0 then total + 1
                    else first_value(ordinal) over (
                        order by case when ordinal % 2 = 1 then spread end nulls last, ordinal
                    )
                end as alone
            from (
                select
                    *,
                    greatest(
                        n,
                        max(case when ordinal % 2 = 0 then pair end) over before,
                        max(case when ordinal % 2 = 1 then pair end) over after
                    ) - least(
                        n,
                        min(case when ordinal % 2 = 0 then pair end) over before,
                        min(case when ordinal % 2 = 1 then pair end) over after
                    ) as spread
                from (
                    select
                        *,
                        n + lag(n) over (order by ordinal) as pair
                    from paired
                    where total > 1
                ) as neighbours
                window
                    before as (order by ordinal rows between unbounded preceding and 1 preceding),
                    after as (order by ordinal desc rows between unbounded preceding and 1 preceding)
            ) as spreads
        ) as choices
    ) as placed
    group by level, parent
)

select level, ordinal, first, past, alone
from paired;

-- hierarchy_1.climb: Cardinality hierarchy: the node of each value at every level.
create or replace table anon_scratch.main.intervals_1 as
with recursive leaf_nodes as (
    select
        ordinal,
        first,
        past,
        count(*) over () as leaves,
        min(past - first) over () as width
    from anon_scratch.main.nodes_1
    where level = 0
),

steps as (
    select level, max(alone) as alone
    from anon_scratch.main.nodes_1
    where level > 0
    group by level
),

climb (value, level, ordinal) as (
    select
        p.value,
        0,
        cast(least(l.leaves, (p.position - p.position % l.width) / l.width + 1) as bigint)
    from anon_scratch.main.positions_1 as p
    cross join leaf_nodes as l
    where l.ordinal = 1
    union all
    select
        c.value,
        c.level + 1,
        case when c.ordinal <= s.alone then (c.ordinal + 1) >> 1 else (c.ordinal >> 1) + 1 end
    from climb as c
    inner join steps as s on c.level + 1 = s.level
),

base as (
    select
        case when width = 1 and leaves > 1 then 0 else 1 end as added
    from leaf_nodes
    where ordinal = 1
)

select c.value, cast(c.level + b.added as integer) as level, n.first, n.past
from climb as c
inner join anon_scratch.main.nodes_1 as n on c.level = n.level and c.ordinal = n.ordinal
cross join base as b
where c.level + b.added > 0;

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
