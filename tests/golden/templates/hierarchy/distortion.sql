-- hierarchy_distortion, hierarchy_1.distortion: Distortion of every node: what it costs to publish it instead of the values below.
create or replace table anon_scratch.main.distortion_1 as
with nodes as (
    select
        level,
        node,
        min(leaves) as leaves,
        (min(cast(hi as double)) - min(cast(lo as double))) as width
    from anon_scratch.main.hierarchy_1
    group by level, node
),

root as (
    select level as height, width
    from nodes
    where level = (select max(level) from nodes)
),

shares as (
    select
        n.level,
        n.node,
        case when n.level = r.height then 1 else coalesce(n.width / nullif(r.width, 0), 0) end
            as share
    from nodes as n
    cross join root as r
)

select s.level, s.node, r.height * s.share as distortion, cast(s.share as double) as share
from shares as s
cross join root as r
recursive  -- hierarchy_distortion, hierarchy_1.distortion: with {% if form == "cumulative" %}recursive {% endif %}nodes as (
-- hierarchy_distortion, hierarchy_1.distortion: {% if form == "cumulative" %}
levels as (
    select n.level, max(n.width + CAST(1.0 AS DOUBLE)) / (r.width + CAST(1.0 AS DOUBLE)) as share
    from nodes as n
    cross join root as r
    group by n.level, r.width
),

descent (level, share) as (
    select height, cast(1 as double)
    from root
    union all
    select l.level, d.share * l.share
    from descent as d
    inner join levels as l on l.level = d.level - 1
),

shares as (
    select n.level, n.node, d.share
    from nodes as n
    inner join descent as d on n.level = d.level
)
-- hierarchy_distortion, hierarchy_1.distortion: {% elif form == "halved" %}
shares as (
    select n.level, n.node, 1 / pow(2, r.height - n.level) as share
    from nodes as n
    cross join root as r
)
