-- full_domain_budget_c_dm, choose nodes: The nodes to judge in this round: all that are not judged.
create or replace table anon_scratch.main.lattice_batch as
select number, guide, m0
from anon_scratch.main.lattice_nodes
where number not in (select number from anon_scratch.main.lattice_judged)
