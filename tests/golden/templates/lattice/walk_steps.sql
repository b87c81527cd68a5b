-- full_domain_budget_c_dm, steps between nodes: What changes where one column goes one level up or down.
create or replace table anon_scratch.main.lattice_steps as
select
    a.attribute,
    a.level,
    b.level < a.level as down,
    b.level as to_level
    , b.m0 - a.m0 as m0
    , b.ncp - a.ncp as ncp
    , b.glm - a.glm as glm
    , b.distortion - a.distortion as distortion
    , b.entropy - a.entropy as entropy
from anon_scratch.main.lattice_levels a
join anon_scratch.main.lattice_levels b on b.attribute = a.attribute and b.level in (a.level - 1, a.level + 1)
