-- m_invariance, division and balancing: How many persons stay with each value of each signature, how many are new with each value (-1), and which values are known (-2).
with staying as (
    select signature, value, count(*) as n from anon_scratch.main.standing where signature is not null group by all
)
select v.signature, v.value, coalesce(s.n, 0) as n
from anon_scratch.main.history_values v
left join staying s on s.signature = v.signature and s.value = v.value
where v.signature in (select signature from staying)
union all
select -1, value, count(*) from anon_scratch.main.standing where signature is null group by value
union all
select -2, value, 0 from anon_scratch.main.known_values
order by 1, 2
