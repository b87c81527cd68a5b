-- mondrian_refine_driven, units without a new class: The units of every block, none of which has a new class yet.
create or replace table anon_scratch.main.refine_grown as
select
    unit, block, n,
    row_number() over (partition by block order by rarity desc, unit) as turn,
    cast(sum(n) over (partition by block) as bigint) as left_over,
    cast(0 as bigint) as grp, false as taken, cast(0 as bigint) as size

, w1, cast(0 as bigint) as gw1, l1, cast(40000000 as bigint) as gl1, h1, cast(-40000000 as bigint) as gh1
from (
    select p.*, b.block, count(*) over (partition by b.block) as units
    from anon_scratch.main.refine_points p
    join anon_scratch.main.refine_blocks b on b.class_id = p.class_id
) p
-- a few large classes have too many units to be taken one by one
where units <= 200
