-- privacyfrost_suppressing, next tables: All tables that are one level finer (top-down) or coarser (bottom-up) in one column. Those that do not beat the best even if nothing is suppressed, and those finer than one whose classes were too small, are not judged.
create or replace table anon_scratch.main.search_tables as
with here as (
    select
        unnest([0, 1]) as attribute,
        unnest([d1, d2]) as depth,
        unnest([0, 0]) as floor,
        unnest([5, 1]) as height,
        unnest([0, 1]) as rank,
        phase = 'bottom-up' as up
    from anon_scratch.main.search_standing
-- 13 lines of the template, d217ff1c
        cast(sum(v.merit) as decimal(38, 12)) as score,
        cast(sum(v.distinct_values) as bigint) as weight,
        max(v.small) as single
        , cast(max(case when v.attribute = 0 then v.depth end) as integer) as d1
        , cast(max(case when v.attribute = 1 then v.depth end) as integer) as d2
        , bit_or(v.m0) as m0
        , bit_or(v.m1) as m1
    from moves m
    cross join here h
    join anon_scratch.main.search_depths v
        -- 8 lines of the template, eff48fdf
    t.d1,
    5 - t.d1 as l1,
    t.d2,
    1 - t.d2 as l2,
    t.m0,
    t.m1,
    -- 5 lines of the template, 4ab88e1f
        select 1 from anon_scratch.main.search_failed f
        where t.m0 & f.m0 = f.m0 and t.m1 & f.m1 = f.m1
    ) as fails
from tables t
cross join anon_scratch.main.search_standing s
cross join anon_scratch.main.lattice_limits l
