-- m_invariance, halve nodes: Cuts every node in the middle of its widest attribute, separately for each value, so that both halves have equally many rows of every value.
create or replace table anon_scratch.main.nodes as
with widths as (
    select node, max(p1) - min(p1) as w1
    from anon_scratch.main.nodes
    -- 6 lines of the template, 97f4b664
        case greatest(w1)
            when w1 then 1
        -- 8 lines of the template, 438deb30
            order by case c.attribute when 1 then n.p1 end, n.draw, n.id
        ) as rank
    from anon_scratch.main.nodes n
    -- 10 lines of the template, 2b5e280e
    , p1
from ranked
union all
select id, level, node, copies, value, draw, p1
from anon_scratch.main.nodes
where copies = 1
-- 1 branch as in the template, 0a07f659
