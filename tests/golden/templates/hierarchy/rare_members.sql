-- full_domain_distortion, hierarchy_1.rare_members: Frequency hierarchy: the values in the order in which they were merged.
create or replace table anon_scratch.main.members_1 as
select cast(v.value as varchar) as value, m.leaf, m.joined
from (
    select value, row_number() over (order by n, value) as ordinal
    from anon_scratch.main.values_1
) as v
inner join anon_scratch.main.merges_1 as m on v.ordinal = m.ordinal
