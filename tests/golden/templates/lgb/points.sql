-- lgb_ncp, units as points: Every unit as a point: its place per ordered attribute, its ancestors per hierarchy.
create or replace table anon_scratch.main.open_units as
select
    u.unit, min(unit) over (partition by pattern) as class_id, u.n, u.draw, 0 as attempt
    , u.c1
    , coalesce(d1.size, 1) as m1
    , coalesce(d1.share, 0) as p1
    , u.c2
    , coalesce(d2.size, 1) as m2
    , coalesce(d2.share, 0) as p2
    , u.c3
    , coalesce(d3.size, 1) as m3
    , d3.a1 as a3_1
    , d3.z1 as z3_1
    , d3.a2 as a3_2
    , d3.z2 as z3_2
    , d3.a3 as a3_3
    , d3.z3 as z3_3
    , d3.a4 as a3_4
    , d3.z4 as z3_4
    , d3.a5 as a3_5
    , d3.z5 as z3_5
from anon_scratch.main.units u
left join anon_scratch.main.domain_1 d1 on d1.code = u.c1
left join anon_scratch.main.domain_2 d2 on d2.code = u.c2
left join anon_scratch.main.domain_3 d3 on d3.code = u.c3
