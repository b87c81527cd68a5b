-- mondrian_dealt, deal classes: Classes that have about the table's share of every value, in all blocks at once: units with rare values start classes, which take the units that add least to their loss until they are large enough.
create or replace table anon_scratch.main.deal_groups as
with recursive grow(unit, cell, turn, slot, grp, taken, size, spent, have, q, cap, w1, l1, h1) as (
    select
    -- 4 lines of deal/_grow.sql.j2, 7384f3ab
, p.w1, p.l1, p.h1
from anon_scratch.main.refine_points p
join anon_scratch.main.deal_blocks b on b.unit = p.unit
-- 4 lines of deal/_grow.sql.j2, 0b058a8c
, cast(0 as bigint), cast(40000000 as bigint), cast(-40000000 as bigint)
from (select distinct cell, q, cap from anon_scratch.main.deal_blocks) b
cross join (select cast(0 as bigint) as slot union all select cast(1 as bigint) as slot union all select cast(2 as bigint) as slot union all select cast(3 as bigint) as slot union all select cast(4 as bigint) as slot union all select cast(5 as bigint) as slot union all select cast(6 as bigint) as slot union all select cast(7 as bigint) as slot) s

    union all (
        with open as (
    select unit, cell, turn, w1, l1, h1
    from "grow"
    -- 6 lines of deal/_grow.sql.j2, 90e258e0
, g.l1, g.h1, 4611686018427387903 - g.w1 as free_w1, cast(case when (cast(bit_count(g.w1 & 511) as integer)) = 1 then 2500000 else 1250000 end as double) as step2
    from "grow" g
    cross join anon_scratch.main.deal_size z
    -- 5 lines of deal/_grow.sql.j2, 80171419
    from (select cell >> 24 as block, count(*) as units from open group by cell >> 24) o
    left join (
        select block, sum(goal - size) as units
        from (select distinct cell >> 24 as block, slot, goal, size from growing where size > 0) c
        -- 6 lines of deal/_grow.sql.j2, 3bcbf05c
    join spare s on s.block = g.cell >> 24
    where g.have < g.cap and g.spent + g.surplus <= g.budget and (g.size > 0 or s.units >= (g.slot + 1) * g.goal)
),
best as (
    select cell, slot, min((greatest(jh1 - jl1, 0) + cast((bit_count(w1 & free_w1 & 511)) * step2 as bigint)) * 1048576 + turn) as score
    from (
        select
            u.cell, u.turn, g.slot
, u.w1, least(u.l1, g.l1) as jl1, greatest(u.h1, g.h1) as jh1, g.free_w1, g.step2
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
, o.w1, o.l1, o.h1
from open o
join (select distinct block from state) s on s.block = o.cell >> 24
left join picked p on p.cell = o.cell and p.turn = o.turn
union all
select
    g.unit, g.cell, g.turn, g.slot, case when n.closes then g.grp + 8 else g.grp end, false,
    -- 4 lines of deal/_grow.sql.j2, 32586be2
, case when n.closes then 0 else (g.w1 | n.pw1) end, case when n.closes then 40000000 else least(g.l1, n.pl1) end, case when n.closes then -40000000 else greatest(g.h1, n.ph1) end
from "grow" g
join state n on n.block = g.cell >> 24 and n.slot = g.slot
left join picked p on p.cell = g.cell and p.slot = g.slot
where g.slot is not null and not g.taken

    )
)
select unit, grp from grow where taken
