-- full_domain_ncp, hierarchy_2.guard_lacking: Values of the source that the hierarchy lacks: how many, of how many, in how many rows.
select
    count(*) filter (where l.leaf is null) as lacking,
    count(*) as distinct_values,
    cast(sum(v.n) filter (where l.leaf is null) as bigint) as row_count
from anon_scratch.main.values_2 as v
left join (
    select try_cast(value as DATE) as typed, min(leaf) as leaf
    from anon_scratch.main.listed_2
    group by 1
) as l on v.value = l.typed
having count(*) filter (where l.leaf is null) > 0
