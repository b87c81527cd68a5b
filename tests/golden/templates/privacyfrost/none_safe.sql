-- privacyfrost_suppressing, a safe table: No table holds: the coarsest that the minimum levels allow, and why it does not.
select s.small, s.broken, l.allowed
from anon_scratch.main.search_start s
cross join anon_scratch.main.lattice_limits l
where not exists (select 1 from anon_scratch.main.search_state)
order by s.place desc
limit 1
