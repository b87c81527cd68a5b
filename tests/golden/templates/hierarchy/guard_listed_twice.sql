-- full_domain_ncp, hierarchy_2.guard_listed_twice: Leaves that are the same value of the column, written in two ways: how many values.
select count(*) as twice
from (
    select try_cast(value as DATE) as typed
    from anon_scratch.main.listed_2
    where try_cast(value as DATE) is not null
    group by 1
    having count(distinct leaf) > 1
) as repeated
having count(*) > 0
