-- mondrian_dealt, settle units: Leftover units join the class of their block that widens least among those whose surplus allows it; a class takes at most {{ at_once }} per round.
create or replace table anon_scratch.main.deal_homes as
with bins as (
    select distinct bin, q, total, most from anon_scratch.main.deal_shares
),
extents as (
    select
        h.block, h.grp, cast(count(*) as bigint) as size
, bit_or(p.w1) as w1, min(p.l1) as l1, max(p.h1) as h1
    from anon_scratch.main.deal_homes h
    join anon_scratch.main.refine_points p on p.unit = h.unit
    where h.grp is not null
    group by h.block, h.grp
),
classes as (
    select *, size * cast(greatest(h1 - l1, 0) + cast((cast(bit_count(w1 & 511) as integer)) as bigint) * least((cast(bit_count(w1 & 511) as integer)) - 1, 1) * 1250000 as bigint) as lost from extents
),
counted as (
    select block, grp, bin, cast(count(*) as bigint) as n
    from anon_scratch.main.deal_homes
    where grp is not null
    group by block, grp, bin
),
surpluses as (
    select c.block, c.grp, cast(sum(greatest(c.n * b.total - s.size * b.q, 0)) as bigint) as surplus
    from counted c
    join classes s on s.block = c.block and s.grp = c.grp
    join bins b on b.bin = c.bin
    group by c.block, c.grp
),
growing as (
    select
        s.block, s.grp, b.bin, s.size, u.surplus,
        greatest((coalesce(c.n, 0) + 1) * b.total - (s.size + 1) * b.q, 0) - greatest(coalesce(c.n, 0) * b.total - s.size * b.q, 0) as more,
        cast(floor(CAST(0.4 AS DOUBLE) * (s.size + 1) * b.total - CAST(1e-06 AS DOUBLE)) as bigint) as budget
    from classes s
    join surpluses u on u.block = s.block and u.grp = s.grp
    cross join bins b
    left join counted c on c.block = s.block and c.grp = s.grp and c.bin = b.bin
    where coalesce(c.n, 0) + 1 <= floor((s.size + 1) * b.most)
),
offered as (
    select
        h.unit, h.bin, s.block, s.grp, g.surplus, greatest(g.more, 0) as more, g.budget, s.size + 1 as j_size, s.lost
, (s.w1 | p.w1) as jw1, least(s.l1, p.l1) as jl1, greatest(s.h1, p.h1) as jh1
    from anon_scratch.main.deal_homes h
    join anon_scratch.main.refine_points p on p.unit = h.unit
    join growing g on g.block = h.block and g.bin = h.bin
    join classes s on s.block = g.block and s.grp = g.grp
    where h.grp is null and g.surplus + g.more <= g.budget
),
weighed as (
    select unit, bin, block, grp, surplus, more, budget, j_size * cast(greatest(jh1 - jl1, 0) + cast((cast(bit_count(jw1 & 511) as integer)) as bigint) * least((cast(bit_count(jw1 & 511) as integer)) - 1, 1) * 1250000 as bigint) - lost as cost
    from offered
),
cheapest as (
    select unit, min(cost) as cost from weighed group by unit
),
-- many units would join the same few classes: any that costs little more will do
regretted as (
    select w.*, w.cost - l.cost as regret
    from weighed w
    join cheapest l on l.unit = w.unit
    where (w.cost - l.cost) * 2 <= l.cost
),
-- of a bin one unit at a time, as the surplus of a second one is another
wanted as (
    select block, grp, bin, min(regret * 1048576 + unit) as chosen from regretted group by block, grp, bin
),
accepted as (
    select r.unit, min(r.regret * 1048576 + r.grp) as chosen
    from regretted r
    join wanted w on w.block = r.block and w.grp = r.grp and w.bin = r.bin and w.chosen = r.regret * 1048576 + r.unit
    group by r.unit
),
spent as (
    select
        r.unit, r.grp, r.budget,
        row_number() over (partition by r.block, r.grp order by r.regret, r.unit) as place,
        r.surplus + sum(r.more) over (partition by r.block, r.grp order by r.regret, r.unit rows unbounded preceding) as spending
    from regretted r
    join accepted a on a.unit = r.unit and r.grp = a.chosen % 1048576
),
settled as (
    select unit, grp from spent where place = 1 or (place <= 4 and spending <= budget)
),
last_round as (
    select min(turn) as turn from anon_scratch.main.deal_homes where grp is null
)
select
    h.unit, h.block, h.bin, coalesce(h.grp, s.grp) as grp,
    case when h.grp is null then (select turn from last_round) + 1 else h.turn end as turn
from anon_scratch.main.deal_homes h
left join settled s on s.unit = h.unit
