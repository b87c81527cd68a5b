-- full_domain_distortion, hierarchy_1.rarest: The distinct values in order with their counts: the input for merging rare values.
select row_number() over (order by n, value) as ordinal, n
from anon_scratch.main.values_1
order by ordinal
