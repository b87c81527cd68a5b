-- full_domain_budget_c_dm, the coarsest node: The first node of a lattice that is not listed: the coarsest. Further nodes are added as they are found, and numbered in this order.
create or replace table anon_scratch.main.lattice_nodes as
with coarsest as (
    select attribute, max(level) as level
    from anon_scratch.main.lattice_levels
    -- 5 lines of the template, 995ddfb8
        , cast(max(case when v.attribute = 0 then v.level end) as integer) as l1
        , cast(max(case when v.attribute = 1 then v.level end) as integer) as l2
        , cast(sum(v.m0) as bigint) as m0
        , cast(sum(v.ncp) as hugeint) as ncp
        , cast(sum(v.glm) as hugeint) as glm
        , cast(sum(v.distortion) as hugeint) as distortion
        , cast(sum(v.entropy) as bigint) as guide

    from anon_scratch.main.lattice_levels v
    -- 4 lines of the template, 0ecca505
    cast(floor(pow(cast(l.units_records as double), 2) * exp(-c.guide / 1000000.0) * 0.9999) as hugeint) as bound
from combined c
cross join (select records - left_out as units_records from anon_scratch.main.lattice_limits) l
-- 1 branch as in the template, cc1f83e3
