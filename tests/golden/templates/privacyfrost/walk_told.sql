-- privacyfrost_suppressing, record of the budget: Add the table with which the search within the budget ended as the last of the record.
insert into anon_scratch.main.search_trail
-- 4 lines as in templates/privacyfrost/walk_verdicts.sql, privacyfrost_suppressing, verdicts
found as (
    select
        cast(max(case when s.attribute = 0 then s.depth end) as integer) as d1,
        cast(max(case when s.attribute = 1 then s.depth end) as integer) as d2,
        bit_or(v.m0) as m0,
        bit_or(v.m1) as m1
    from anon_scratch.main.search_state s
    join anon_scratch.main.search_depths v on v.attribute = s.attribute and v.depth = s.depth
    -- 4 lines of the template, 861a8e2e
    , f.d1, f.d1
    , f.d2, f.d2
    , f.m0
    , f.m1
    , cast(t.score - cast(j.loss // 1000000000000 as decimal(26, 0)) - cast(j.loss % 1000000000000 as decimal(12, 0)) * cast(0.000000000001 as decimal(12, 12)) as decimal(38, 12))
    , j.fewer, false, true, true, true, null, true
from found f
join anon_scratch.main.lattice_nodes n on n.m0 = f.m0 and n.m1 = f.m1
join anon_scratch.main.lattice_judged j on j.number = n.number
cross join top t
cross join (select max(round) + 1 as round from anon_scratch.main.search_trail) r
