-- mondrian_dealt_driven, units to deal: The units of every block, none of which has a new class yet.
create or replace table anon_scratch.main.deal_grown as
-- 5 lines of deal/_grow.sql.j2, 3ba3f686
, p.w1, p.l1, p.h1
from anon_scratch.main.refine_points p
join anon_scratch.main.deal_blocks b on b.unit = p.unit
-- 4 lines of deal/_grow.sql.j2, 0b058a8c
, cast(0 as bigint), cast(40000000 as bigint), cast(-40000000 as bigint)
from (select distinct cell, q, cap from anon_scratch.main.deal_blocks) b
cross join (select cast(0 as bigint) as slot union all select cast(1 as bigint) as slot union all select cast(2 as bigint) as slot union all select cast(3 as bigint) as slot union all select cast(4 as bigint) as slot union all select cast(5 as bigint) as slot union all select cast(6 as bigint) as slot union all select cast(7 as bigint) as slot) s
