-- m_invariance, halve nodes: Cuts every node in the middle of its widest attribute, separately for each value, so that both halves have equally many rows of every value.
create or replace table anon_scratch.main.nodes as
with widths as (
    select node, max(p1) - min(p1) as w1
    from anon_scratch.main.nodes
    where copies > 1 and id > 0
    group by node
),
chosen as (
    select
        node,
        case greatest(w1)
            when w1 then 1
        end as attribute
    from widths
),
ranked as (
    select
        n.*,
        row_number() over (
            partition by n.node, n.value
            order by case c.attribute when 1 then n.p1 end, n.draw, n.id
        ) as rank
    from anon_scratch.main.nodes n
    join chosen c on c.node = n.node
    where n.copies > 1
)
select
    id,
    level + 1 as level,
    case when rank <= copies // 2 then 2 * node else 2 * node + 1 end as node,
    case when rank <= copies // 2 then copies // 2 else copies - copies // 2 end as copies,
    value,
    draw
    , p1
from ranked
union all
select id, level, node, copies, value, draw, p1
from anon_scratch.main.nodes
where copies = 1
,  -- m_invariance_persons, halve nodes: case greatest({% for a in attributes %}{{ a.w }}{% if not loop.last %}, {% endif %}{% endfor %})
