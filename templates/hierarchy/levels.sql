-- name: shape
-- How many nodes each level of every hierarchy has, how many of them share a parent, and how many
-- parents a node has (more than one where levels do not nest).
with climbed as (
    {% for hierarchy in hierarchies %}
    select {{ loop.index0 | lit }} as tree, leaf, level, node from {{ hierarchy | ident }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
paths as (
    select tree, leaf, 0 as level, leaf as node from climbed where level = 1
    union all
    select tree, leaf, level, node from climbed
),
edges as (
    select distinct p.tree, p.level, p.node, a.node as parent
    from paths p
    left join paths a on a.tree = p.tree and a.leaf = p.leaf and a.level = p.level + 1
),
families as (
    select tree, level, node, count(*) over (partition by tree, level, parent) as children, count(*) over (partition by tree, level, node) as parents
    from edges
)
select tree, level, count(distinct node), max(children), max(parents)
from families
group by tree, level
order by tree, level

-- name: distortion
-- Distortion of every node: what it costs to publish it instead of the values below.
-- parameters: form: range, leaves, halved or cumulative; width: of a node, an aggregate;
-- point: width of a single point
-- source: Yaseen et al. 2018, section III and Table 4
create or replace table {{ distortion | ident }} as
with {% if form == "cumulative" %}recursive {% endif %}nodes as (
    select
        level,
        node,
        min(leaves) as leaves,
        {{ width }} as width
    from {{ hierarchy | ident }}
    group by level, node
),

root as (
    select level as height, width
    from nodes
    where level = (select max(level) from nodes)
),

{% if form == "cumulative" %}
levels as (
    select n.level, max(n.width + {{ point }}) / (r.width + {{ point }}) as share
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
{% elif form == "halved" %}
shares as (
    select n.level, n.node, 1 / pow(2, r.height - n.level) as share
    from nodes as n
    cross join root as r
)
{% else %}
shares as (
    select
        n.level,
        n.node,
        case when n.level = r.height then 1 else coalesce(n.width / nullif(r.width, 0), 0) end
            as share
    from nodes as n
    cross join root as r
)
{% endif %}

select s.level, s.node, r.height * s.share as distortion, cast(s.share as double) as share
from shares as s
cross join root as r
