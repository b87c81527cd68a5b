-- full_domain_c_dm_persons, hierarchy_2.guard_values: Values that the builder cannot place: how many there are, and in how many rows.
select count(*) as distinct_values, cast(sum(n) as bigint) as row_count
from anon_scratch.main.values_2
where not isfinite(value)
having count(*) > 0
