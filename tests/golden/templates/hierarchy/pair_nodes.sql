-- hierarchy_cardinality, hierarchy_1.pair_nodes: Cardinality hierarchy: pair neighbouring nodes, level by level, until one is left. If their number is odd, one node at an odd position stays alone: the one for which the counts of the new level differ least (largest minus smallest), or the leftmost of several.
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
from paired
