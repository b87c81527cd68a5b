-- full_domain_budget_c_dm, keep failures: Keep the nodes whose failure rules out all finer ones.
insert into anon_scratch.main.lattice_failed
select n.number, n.l1, n.l2, n.m0
from anon_scratch.main.lattice_verdicts v
join anon_scratch.main.lattice_nodes n on n.number = v.number
where v.decides
