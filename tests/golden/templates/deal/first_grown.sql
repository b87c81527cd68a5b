-- mondrian_dealt_driven, units to deal: The units of every block, none of which has a new class yet.
create or replace table anon_scratch.main.deal_grown as
select
    p.unit, b.cell, b.q, b.cap,
    row_number() over (partition by b.block order by p.rarity desc, p.unit) as turn,
    cast(count(*) over (partition by b.block) as bigint) as left_over,
    cast(0 as bigint) as grp, false as taken,
    cast(0 as bigint) as size, cast(0 as bigint) as spent, cast(0 as bigint) as have
, p.w1, cast(0 as bigint) as gw1, p.l1, cast(40000000 as bigint) as gl1, p.h1, cast(-40000000 as bigint) as gh1
from anon_scratch.main.refine_points p
join anon_scratch.main.deal_blocks b on b.unit = p.unit
