-- privacyfrost_budget, single columns: Of the logarithmic score only one column counts: every column alone at every level, all others as coarse as they may be.
insert into anon_scratch.main.lattice_nodes
with coarsest as (
    select attribute, max(level) as level
    from anon_scratch.main.lattice_levels
    group by attribute
),
singles as (
    select
        row_number() over (order by v.lost, v.attribute, v.level) as number,
        v.attribute,
        v.level
    from anon_scratch.main.lattice_levels v
    join coarsest c on c.attribute = v.attribute and v.level < c.level
),
combined as (
    select
        s.number + 2 as number
        , cast(max(case when v.attribute = 0 then v.level end) as integer) as l1
        , cast(max(case when v.attribute = 1 then v.level end) as integer) as l2
        , cast(sum(v.m0) as bigint) as m0
        , cast(sum(v.m1) as bigint) as m1
        , cast(sum(v.lost) as hugeint) as lost
        , cast(sum(v.fewer) as hugeint) as fewer
        , cast(sum(v.entropy) as bigint) as guide

    from singles s
    cross join coarsest c
    join anon_scratch.main.lattice_levels v on v.attribute = c.attribute and v.level = case when c.attribute = s.attribute then s.level else c.level end
    where s.number + 2 <= 40
    group by s.number
)
select
    c.*,
    c."lost" as bound
from combined c
where not exists (
    select 1 from anon_scratch.main.lattice_nodes n
    where n.m0 = c.m0 and n.m1 = c.m1
)
