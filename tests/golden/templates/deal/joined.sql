-- mondrian_dealt, classes of what is left: Units that no class of their block can take form one class together with as many of its classes as they need, beginning with those that lose most. If all are too few, the block is one class.
create or replace table anon_scratch.main.deal_homes as
with bins as (
    select distinct bin, q, total, most from anon_scratch.main.deal_shares
),
lacking as (
    select distinct block from anon_scratch.main.deal_homes where grp is null
-- 4 lines of the template, 26e4836e
, bit_or(p.w1) as w1, min(p.l1) as l1, max(p.h1) as h1
    from anon_scratch.main.deal_homes h
    join lacking l on l.block = h.block
    join anon_scratch.main.refine_points p on p.unit = h.unit
    -- 6 lines of the template, 0b0ec66d
        row_number() over (partition by block order by case when grp = 0 then 0 else 1 end, greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) desc, grp) as place
    -- 4 lines of the template, 079aec9b
    from anon_scratch.main.deal_homes h
    -- 18 lines of the template, c89ace39
    having sum(greatest(n * total - size * q, 0)) <= CAST(0.4 AS DOUBLE) * max(size) * max(total) - CAST(1e-06 AS DOUBLE)
    and bool_and(n <= floor(size * most))
    and max(size) >= (select max(goal) from anon_scratch.main.deal_size)
-- 8 lines of the template, 30df9df9
from anon_scratch.main.deal_homes h
left join placed p on p.block = h.block and p.grp = coalesce(h.grp, 0)
left join ends e on e.block = h.block
