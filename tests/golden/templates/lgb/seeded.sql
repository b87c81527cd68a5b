-- lgb_ncp, groups of one seed: The units of every class that is divided, of which only the seeds are in a group.
create or replace table anon_scratch.main.dealt as
select
    o.unit, o.class_id, o.turn, o.n
    , o.c2
    , o.c3
    , o.p1
    , o.p2
    , o.a3_1
    , o.z3_1
    , o.a3_2
    , o.z3_2
    , o.a3_3
    , o.z3_3
    , o.a3_4
    , o.z3_4
    , case when o.unit = s.first then true when o.unit = s.second then false end as is_left
from anon_scratch.main.open_units o
join anon_scratch.main.seeds s on s.class_id = o.class_id
