-- m_invariance, assignment in regions: How many new persons have each value in each region; and the signatures of the buckets (as regions below 0).
select m.class_id as region, s.value, count(*) as n
from anon_scratch.main.members m
join anon_scratch.main.units u on u.unit = m.unit
join anon_scratch.main.standing s on s.row_id = u.row_id
group by m.class_id, s.value
union all
select -bucket, value, 0 from anon_scratch.main.quotas
order by 1, 2
