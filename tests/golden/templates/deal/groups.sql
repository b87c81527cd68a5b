-- mondrian_dealt, deal classes: Classes that have about the table's share of every value, in all blocks at once: units with rare values start classes, which take the units that add least to their loss until they are large enough.
create or replace table anon_scratch.main.deal_groups as
with recursive grow(unit, cell, turn, slot, grp, taken, size, spent, have, q, cap, w1, l1, h1) as (
    select
    p.unit, b.cell, row_number() over (partition by b.block order by p.rarity desc, p.unit) as turn,
    cast(null as bigint) as slot, cast(0 as bigint) as grp, false as taken,
    cast(0 as bigint) as size, cast(0 as bigint) as spent, cast(0 as bigint) as have,
    cast(0 as bigint) as q, cast(0 as bigint) as cap
, p.w1, p.l1, p.h1
from anon_scratch.main.refine_points p
join anon_scratch.main.deal_blocks b on b.unit = p.unit
union all
select
    cast(0 as bigint), b.cell, cast(0 as bigint), s.slot, s.slot, false,
    cast(0 as bigint), cast(0 as bigint), cast(0 as bigint), b.q, b.cap
, cast(0 as bigint), cast(40000000 as bigint), cast(-40000000 as bigint)
from (select distinct cell, q, cap from anon_scratch.main.deal_blocks) b
cross join (select cast(0 as bigint) as slot union all select cast(1 as bigint) as slot union all select cast(2 as bigint) as slot union all select cast(3 as bigint) as slot union all select cast(4 as bigint) as slot union all select cast(5 as bigint) as slot union all select cast(6 as bigint) as slot union all select cast(7 as bigint) as slot) s

    union all (
        with open as (
    select unit, cell, turn, w1, l1, h1
    from "grow"
    where slot is null
),
growing as (
    select
        g.cell, g.slot, g.grp, g.size, g.spent, g.have, g.cap, z.goal, z.budget,
        greatest((g.have + 1) * z.total - z.goal * g.q, 0) - greatest(g.have * z.total - z.goal * g.q, 0) as surplus
, g.l1, g.h1, 4611686018427387903 - g.w1 as free_w1, cast(case when (cast(bit_count(g.w1 & 511) as integer)) = 1 then 2500000 else 1250000 end as double) as step2
    from "grow" g
    cross join anon_scratch.main.deal_size z
    where g.slot is not null and not g.taken
),
-- a class starts if enough units are left after those that others still need
spare as (
    select o.block, o.units - coalesce(n.units, 0) as units
    from (select cell >> 24 as block, count(*) as units from open group by cell >> 24) o
    left join (
        select block, sum(goal - size) as units
        from (select distinct cell >> 24 as block, slot, goal, size from growing where size > 0) c
        group by block
    ) n on n.block = o.block
),
allowed as (
    select g.*
    from growing g
    join spare s on s.block = g.cell >> 24
    where g.have < g.cap and g.spent + g.surplus <= g.budget and (g.size > 0 or s.units >= (g.slot + 1) * g.goal)
),
best as (
    select cell, slot, min((greatest(jh1 - jl1, 0) + cast((bit_count(w1 & free_w1 & 511)) * step2 as bigint)) * 1048576 + turn) as score
    from (
        select
            u.cell, u.turn, g.slot
, u.w1, least(u.l1, g.l1) as jl1, greatest(u.h1, g.h1) as jh1, g.free_w1, g.step2
        from open u
        join allowed g on g.cell = u.cell
        where g.size > 0
    ) j
    group by cell, slot
    union all
    select g.cell, g.slot, min(u.turn)
    from open u
    join allowed g on g.cell = u.cell
    where g.size = 0 and u.turn % 8 = g.slot
    group by g.cell, g.slot
),
weighed as (
    select
        b.cell >> 24 as block, b.cell, b.slot, b.score, cast(b.score % 1048576 as bigint) as turn,
        a.grp, a.surplus, a.size, a.goal, a.budget - a.spent as unspent
    from best b
    join allowed a on a.cell = b.cell and a.slot = b.slot
),
chosen as (
    select w.cell, w.slot, w.turn, w.score, w.grp, w.surplus
    from weighed w
    join weighed o on o.block = w.block and o.slot = w.slot and o.score <= w.score
    group by w.cell, w.slot, w.turn, w.score, w.grp, w.surplus, w.size, w.goal, w.unspent
    having count(*) <= least(greatest(w.size * 2 / 3, 1), w.goal - w.size) and (w.surplus = 0 or sum(o.surplus) <= w.unspent)
),
-- the class that it suits best, of those that chose the same unit
first as (
    select cell, turn, min(score * 8 + slot) as choice from chosen group by cell, turn
),
picked as (
    select c.cell, c.slot, c.turn, c.grp, c.surplus
    from chosen c
    join first f on f.cell = c.cell and f.turn = c.turn and f.choice = c.score * 8 + c.slot
),
state as (
    select
        a.block, a.slot, a.size + count(p.cell) >= a.goal as closes,
        cast(count(p.cell) as bigint) as more, cast(coalesce(sum(p.surplus), 0) as bigint) as surplus
, coalesce(bit_or(o.w1), 0) as pw1, coalesce(min(o.l1), 40000000) as pl1, coalesce(max(o.h1), -40000000) as ph1
    from (select distinct block, slot, size, goal from weighed) a
    left join picked p on p.cell >> 24 = a.block and p.slot = a.slot
    left join open o on o.cell = p.cell and o.turn = p.turn
    group by a.block, a.slot, a.size, a.goal
)
select
    o.unit, o.cell, o.turn, p.slot, coalesce(p.grp, 0), p.slot is not null, 0, 0, 0, 0, 0
, o.w1, o.l1, o.h1
from open o
join (select distinct block from state) s on s.block = o.cell >> 24
left join picked p on p.cell = o.cell and p.turn = o.turn
union all
select
    g.unit, g.cell, g.turn, g.slot, case when n.closes then g.grp + 8 else g.grp end, false,
    case when n.closes then 0 else g.size + n.more end,
    case when n.closes then 0 else g.spent + n.surplus end,
    case when n.closes then 0 when p.cell is null then g.have else g.have + 1 end,
    g.q, g.cap
, case when n.closes then 0 else (g.w1 | n.pw1) end, case when n.closes then 40000000 else least(g.l1, n.pl1) end, case when n.closes then -40000000 else greatest(g.h1, n.ph1) end
from "grow" g
join state n on n.block = g.cell >> 24 and n.slot = g.slot
left join picked p on p.cell = g.cell and p.slot = g.slot
where g.slot is not null and not g.taken

    )
)
select unit, grp from grow where taken
