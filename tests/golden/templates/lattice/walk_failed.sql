-- full_domain_budget_c_dm, no failures yet: The empty table of nodes whose failure rules out all finer ones.
create or replace table anon_scratch.main.lattice_failed as
select number, l1, l2, m0
from anon_scratch.main.lattice_nodes
where false
