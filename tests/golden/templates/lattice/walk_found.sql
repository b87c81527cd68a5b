-- full_domain_budget_c_dm, nodes found: The nodes reached for the first time, as many as the budget leaves: of every walker those of the lowest bounds first.
create or replace table anon_scratch.main.lattice_found as
with fresh as (
    select r.*, row_number() over (partition by r.walker order by r.bound, r.l1, r.l2) as place
    from anon_scratch.main.lattice_reached r
    where not exists (
        select 1 from anon_scratch.main.lattice_nodes n
        where n.m0 = r.m0
    )
),
different as (
    select min(place) as place, l1, l2, m0, ncp, glm, distortion, guide, bound
    from fresh
    where place <= 60
    group by l1, l2, m0, ncp, glm, distortion, guide, bound
),
known as (
    select count(*) as nodes from anon_scratch.main.lattice_nodes
),
numbered as (
    select k.nodes + row_number() over (order by d.place, d.bound, d.l1, d.l2) as number, d.*
    from different d
    cross join known k
)
select cast(number as bigint) as number, l1, l2, m0, ncp, glm, distortion, guide, bound
from numbered
where number <= 40
-- 1 branch as in the template, e3ee915a
