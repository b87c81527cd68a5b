-- full_domain_distortion, hierarchy_1.guard_count: More distinct values than the builder takes.
select count(*) as distinct_values
from anon_scratch.main.values_1
having count(*) > 2000
