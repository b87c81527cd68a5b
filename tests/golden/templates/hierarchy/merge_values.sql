-- hierarchy_on_the_fly, hierarchy_1.merge_values: The distinct values as numbers in order, with their counts: the input for merging neighbours.
select row_number() over (order by value) as ordinal, cast(value as hugeint) as centre, n
from anon_scratch.main.values_1
order by ordinal
