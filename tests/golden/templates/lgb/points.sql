-- lgb_ncp, units as points: Every unit as a point: its place per ordered attribute, its ancestors per hierarchy, its values as bits. Its turn is its place in its class in the order of the draws.
create or replace table anon_scratch.main.open_units as
select
    u.unit, u.class_id, row_number() over (partition by u.class_id order by u.draw, u.unit) as turn, u.n, u.draw, 0 as attempt
    , u.c1
    , case when u.c1 <> 0 then coalesce(d1.share, 0) end as p1
    , u.c2
    , case when u.c2 <> 0 then coalesce(d2.share, 0) end as p2
    , u.c3
    , d3.a1 as a3_1
    , d3.z1 as z3_1
    , d3.a2 as a3_2
    , d3.z2 as z3_2
    , d3.a3 as a3_3
    , d3.z3 as z3_3
    , d3.a4 as a3_4
    , d3.z4 as z3_4
from (select *, min(unit) over (partition by pattern) as class_id from anon_scratch.main.units) u
left join anon_scratch.main.domain_1 d1 on d1.code = u.c1
left join anon_scratch.main.domain_2 d2 on d2.code = u.c2
left join anon_scratch.main.domain_3 d3 on d3.code = u.c3
, case when c2 between 0 and 2 then cast(1 as bigint) << (c2 + 0) else 0 end as w1  -- lgb_promoted_persons, units as points: {% for name, expression in words %}
