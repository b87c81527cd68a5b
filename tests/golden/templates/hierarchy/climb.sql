-- hierarchy_cardinality, hierarchy_1.climb: Cardinality hierarchy: the node of each value at every level.
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
where c.level + b.added > 0
1 as added  -- hierarchy_cardinality_double, hierarchy_1.climb: {% if exact %} ... {% else %}
