-- hierarchy_divisor_given, hierarchy_1.widths_given: Divisor hierarchy: the widths of its levels as the policy gives them.
create or replace table anon_scratch.main.widths_1 as
select cast(given * 1 as bigint) as width
from (
    select unnest([5, 10]) as given
) as list
