-- full_domain_budget, no failures yet: No node has failed yet in a way that settles the finer ones.
create or replace table anon_scratch.main.lattice_failed as
select number, l1, l2, m0, m1
from anon_scratch.main.lattice_nodes
where false
