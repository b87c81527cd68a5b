-- privacyfrost_suppressing, table of the search: The table with which the search ended, if it found one, is the first known one besides the coarsest.
insert into anon_scratch.main.lattice_nodes
with heights(attribute, height) as (
    values
    (0, 5),
    (1, 1)
-- 4 lines of the template, 4d82ea05
        , cast(max(case when v.attribute = 0 then v.level end) as integer) as l1
        , cast(max(case when v.attribute = 1 then v.level end) as integer) as l2
        , cast(sum(v.m0) as bigint) as m0
        , cast(sum(v.m1) as bigint) as m1
        , cast(sum(v.lost) as hugeint) as lost
        , cast(sum(v.fewer) as hugeint) as fewer
        , cast(sum(v.entropy) as bigint) as guide

    from anon_scratch.main.search_state s
    join heights h on h.attribute = s.attribute
    join anon_scratch.main.lattice_levels v on v.attribute = s.attribute and v.level = h.height - s.depth
    -- 4 lines of the template, d59639fd
    c."lost" as bound
from combined c
where not exists (
    select 1 from anon_scratch.main.lattice_nodes n
    where n.m0 = c.m0 and n.m1 = c.m1
)
