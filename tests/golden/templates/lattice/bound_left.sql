-- full_domain_budget, chains left: How many chains are still to be narrowed, while the budget of nodes lasts.
select count(*)
from anon_scratch.main.lattice_chains
where spent < 60 and slice not in (select slice from anon_scratch.main.lattice_chains where hi < lo)
