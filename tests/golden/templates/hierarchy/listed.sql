-- full_domain_ncp, hierarchy_2.listed: The hierarchy of a taxonomy: the rows of the values that the source has.
create or replace table anon_scratch.main.hierarchy_2 as
select
    v.value,
    l.leaf,
    l.level,
    l.node,
    l.label,
    l.leaves,
    cast(null as DATE) as lo,
    cast(null as DATE) as hi
from anon_scratch.main.values_2 as v
inner join (
    select *, try_cast(value as DATE) as typed
    from anon_scratch.main.listed_2
) as l on v.value = l.typed
