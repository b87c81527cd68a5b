-- full_domain_budget_c_dm, keep nodes: The nodes found are kept.
insert into anon_scratch.main.lattice_nodes
select number, l1, l2, m0, ncp, glm, distortion, guide, bound
from anon_scratch.main.lattice_found
