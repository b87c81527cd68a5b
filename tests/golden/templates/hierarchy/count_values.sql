-- full_domain_ncp, hierarchy_2.count_values: How many distinct values the hierarchy has to cover.
select count(*) as distinct_values
from anon_scratch.main.values_2
