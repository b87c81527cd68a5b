-- full_domain_budget, turns left: How many walkers have turns left, while the budget of nodes lasts.
select count(*)
from anon_scratch.main.lattice_walkers
where turn < 6 and (select count(*) from anon_scratch.main.lattice_nodes) < 20
