-- full_domain_budget_c_dm, walkers: The walkers, all of them at the coarsest node.
create or replace table anon_scratch.main.lattice_walkers as
-- 6 lines of the template, 0f23ca65
from (values (1), (2), (3), (4), (5), (6)) w(walker)
cross join (select md5_number(concat(hex(min(draw)), ':walk')) as draw from anon_scratch.main.units) d
