-- full_domain_budget, keep failures: The nodes that failed in a way that settles the finer ones are kept.
insert into anon_scratch.main.lattice_failed
select n.number, n.l1, n.l2, n.m0, n.m1
from anon_scratch.main.lattice_verdicts v
join anon_scratch.main.lattice_nodes n on n.number = v.number
where v.decides
