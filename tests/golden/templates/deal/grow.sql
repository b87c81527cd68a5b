-- mondrian_dealt_driven, deal units: More units for the classes that grow in every block.
create or replace table anon_scratch.main.deal_grown as
select * from anon_scratch.main.deal_grown where taken
union all (
    with open as (
    select unit, cell, turn, w1, l1, h1
    from anon_scratch.main.deal_grown
    -- 6 lines of deal/_grow.sql.j2, 90e258e0
, g.l1, g.h1, 4611686018427387903 - g.w1 as free_w1, cast(case when (cast(bit_count(g.w1 & 511) as integer)) = 1 then 2500000 else 1250000 end as double) as step2
    from anon_scratch.main.deal_grown g
    cross join anon_scratch.main.deal_size z
    -- 5 lines of deal/_grow.sql.j2, 80171419
    -- 4 lines as in templates/deal/groups.sql, mondrian_dealt, deal classes
        -- 6 lines of deal/_grow.sql.j2, 3bcbf05c
    -- 9 lines as in templates/deal/groups.sql, mondrian_dealt, deal classes
        -- 9 lines of deal/_grow.sql.j2, 6ec7f028
    where g.size = 0 and u.turn % 8 = g.slot
    -- 4 lines of deal/_grow.sql.j2, a641be58
        b.cell >> 24 as block, b.cell, b.slot, b.score, cast(b.score % 1048576 as bigint) as turn,
        -- 13 lines of deal/_grow.sql.j2, 3f52d20a
    select cell, turn, min(score * 8 + slot) as choice from chosen group by cell, turn
-- 4 lines of deal/_grow.sql.j2, 1b47187f
    join first f on f.cell = c.cell and f.turn = c.turn and f.choice = c.score * 8 + c.slot
-- 5 lines of deal/_grow.sql.j2, 3a5790ab
, coalesce(bit_or(o.w1), 0) as pw1, coalesce(min(o.l1), 40000000) as pl1, coalesce(max(o.h1), -40000000) as ph1
    from (select distinct block, slot, size, goal from weighed) a
    left join picked p on p.cell >> 24 = a.block and p.slot = a.slot
    -- 5 lines of deal/_grow.sql.j2, 6fe6b89a
-- 7 lines as in templates/deal/groups.sql, mondrian_dealt, deal classes
    -- 4 lines of deal/_grow.sql.j2, 32586be2
, case when n.closes then 0 else (g.w1 | n.pw1) end, case when n.closes then 40000000 else least(g.l1, n.pl1) end, case when n.closes then -40000000 else greatest(g.h1, n.ph1) end
from anon_scratch.main.deal_grown g
join state n on n.block = g.cell >> 24 and n.slot = g.slot
left join picked p on p.cell = g.cell and p.slot = g.slot
where g.slot is not null and not g.taken

)
