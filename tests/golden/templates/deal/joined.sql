-- mondrian_dealt, classes of what is left: Units that no class of their block can take form one class together with as many of its classes as they need, beginning with those that lose most. If all are too few, the block is one class.
create or replace table anon_scratch.main.deal_homes as
with bins as (
    select distinct bin, q, total, most from anon_scratch.main.deal_shares
),
lacking as (
    select distinct block from anon_scratch.main.deal_homes where grp is null
),
extents as (
    select
        h.block, coalesce(h.grp, 0) as grp
, bit_or(p.w1) as w1, min(p.l1) as l1, max(p.h1) as h1
    from anon_scratch.main.deal_homes h
    join lacking l on l.block = h.block
    join anon_scratch.main.refine_points p on p.unit = h.unit
    group by h.block, coalesce(h.grp, 0)
),
placed as (
    -- what is left over comes first
    select
        block, grp,
        row_number() over (partition by block order by case when grp = 0 then 0 else 1 end, greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) desc, grp) as place
    from extents
),
counted as (
    select p.block, p.place, h.bin, count(*) as n
    from anon_scratch.main.deal_homes h
    join placed p on p.block = h.block and p.grp = coalesce(h.grp, 0)
    group by p.block, p.place, h.bin
),
running as (
    select
        p.block, p.place, b.q, b.total, b.most,
        cast(sum(coalesce(c.n, 0)) over (partition by p.block, b.bin order by p.place rows unbounded preceding) as bigint) as n
    from placed p
    cross join bins b
    left join counted c on c.block = p.block and c.place = p.place and c.bin = b.bin
),
sized as (
    select *, cast(sum(n) over (partition by block, place) as bigint) as size from running
),
judged as (
    select block, place
    from sized
    group by block, place
    having sum(greatest(n * total - size * q, 0)) <= CAST(0.4 AS DOUBLE) * max(size) * max(total) - CAST(1e-06 AS DOUBLE)
    and bool_and(n <= floor(size * most))
    and max(size) >= (select max(goal) from anon_scratch.main.deal_size)
),
ends as (
    select l.block, coalesce(min(j.place), (select max(place) from placed)) as place
    from lacking l
    left join judged j on j.block = l.block
    group by l.block
)
select h.unit, h.block, h.bin, case when p.place <= e.place then 0 else h.grp end as grp, h.turn
from anon_scratch.main.deal_homes h
left join placed p on p.block = h.block and p.grp = coalesce(h.grp, 0)
left join ends e on e.block = h.block
