-- mondrian_dealt, better classes by dealing: The units in the classes that were dealt, where these hold every rule and lose less.
create or replace table anon_scratch.main.refine_points as
with extents as (
    select
        h.block, h.grp, cast(sum(p.n) as bigint) as size
, bit_or(p.w1) as w1, min(p.l1) as l1, max(p.h1) as h1
    from anon_scratch.main.deal_homes h
    join anon_scratch.main.refine_points p on p.unit = h.unit
    group by h.block, h.grp
),
loss as (
    select cast(coalesce(sum(size * cast(greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint)), 0) as bigint) as lost, coalesce(min(size), 0) as least from extents
),
counted_1 as (
    select h.block, h.grp, c.value, cast(sum(c.n) as bigint) as n
    from anon_scratch.main.deal_homes h
    join anon_scratch.main.cells_1 c on c.unit = h.unit
    group by h.block, h.grp, c.value
),
layer_1_0 as (
    select c.block, c.grp, c.n, r.*
    from counted_1 c
    join anon_scratch.main.reference_1 r on r.value = c.value
),
layer_1_1 as (
    select *, cast(sum(n) over (partition by block, grp) as bigint) as "group_size"
    from layer_1_0
),
failing_1 as (
    select block, grp from layer_1_1 group by block, grp
    having not ((cast((cast(coalesce(sum(abs(n * q_size - q * group_size)), 0) as decimal(38, 0)) + cast(coalesce(sum(n), 0) as decimal(38, 0)) * (coalesce(max(q_size), 0) - coalesce(sum(q), 0))) as decimal(38, 0)) * 5 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * 2) * 2))
),
better as (
    select 1 as one
    from loss l
    where l.lost < (select sum(lost) from anon_scratch.main.refine_classes)
    and l.least >= 2
    and (select count(*) from anon_scratch.main.deal_homes) = (select count(*) from anon_scratch.main.refine_points)
    and not exists (select 1 from failing_1)
-- 5 lines as in plans/mondrian.sql, better classes of blocks
    from anon_scratch.main.deal_homes h
    -- 4 lines of the template, 07194890
, p.sign1
, p.w1, p.l1, p.h1
from anon_scratch.main.refine_points p
left join numbered h on h.unit = p.unit
-- 1 branch as in the template, 6134c120
