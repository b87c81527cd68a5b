-- mondrian_dealt, settle units: Leftover units join one of the classes of their block that widen least among those whose surplus allows it; a class takes at most {{ at_once }} per round.
create or replace table anon_scratch.main.deal_homes as
with last_round as (
    select min(turn) as turn from anon_scratch.main.deal_homes where grp is null
),
bins as (
    select distinct bin, q, total, most from anon_scratch.main.deal_shares
-- 4 lines of the template, 6cf34dd0
, bit_or(p.w1) as w1, min(p.l1) as l1, max(p.h1) as h1
    from anon_scratch.main.deal_homes h
    join anon_scratch.main.refine_points p on p.unit = h.unit
    -- 4 lines of the template, b2427730
    select *, size * cast(greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as lost from extents
),
counted as (
    select block, grp, bin, cast(count(*) as bigint) as n
    from anon_scratch.main.deal_homes
    -- 23 lines of the template, fe67e321
    where surplus + more <= CAST(0.4 AS DOUBLE) * (size + 1) * total - CAST(1e-06 AS DOUBLE)
),
offered as (
    select unit, bin, block, grp, j_size * cast(greatest(jh1 - jl1, 0) + cast(((cast(bit_count(jw1 & 511) as integer)) - case when (cast(bit_count(jw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) - lost as cost
    from (
        select
            h.unit, h.bin, s.block, s.grp, s.size + 1 as j_size, s.lost
, (s.w1 | p.w1) as jw1, least(s.l1, p.l1) as jl1, greatest(s.h1, p.h1) as jh1
        from anon_scratch.main.deal_homes h
        join anon_scratch.main.refine_points p on p.unit = h.unit
        -- 17 lines of the template, d2b93f19
    where o.cost - l.cost <= l.cost * CAST(0.5 AS DOUBLE) * (r.turn + 1)
),
turns as (
    select unit, row_number() over (partition by block, bin order by unit) - 1 as turn
    from anon_scratch.main.deal_homes
    -- 27 lines of the template, 08df183d
    select unit, grp from spent where place = 1 or (place <= 4 and spending <= CAST(0.4 AS DOUBLE) * (size + place) * total - CAST(1e-06 AS DOUBLE))
-- 4 lines of the template, 032328be
from anon_scratch.main.deal_homes h
left join settled s on s.unit = h.unit
