-- mondrian_dealt_driven, deal units: More units for the class that grows in every block.
create or replace table anon_scratch.main.deal_grown as
select * from anon_scratch.main.deal_grown where taken
union all (
    with open as (
    select
        g.cell, g.turn, g.size, g.spent, z.goal, z.budget,
        greatest((g.have + 1) * z.total - z.goal * g.q, 0) - greatest(g.have * z.total - z.goal * g.q, 0) as surplus
, (g.w1 | g.gw1) as jw1, least(g.l1, g.gl1) as jl1, greatest(g.h1, g.gh1) as jh1
    from anon_scratch.main.deal_grown g
    -- 29 lines as in templates/deal/groups.sql, mondrian_dealt, deal classes
    join anon_scratch.main.deal_grown g on g.cell = p.cell and g.turn = p.turn
    -- 17 lines as in templates/deal/groups.sql, mondrian_dealt, deal classes
from anon_scratch.main.deal_grown g
join moved n on n.cell = g.cell
where not g.taken and (g.turn = n.turn or not n.closes or g.left_over - n.more >= n.goal)

)
