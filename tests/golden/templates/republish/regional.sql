-- m_invariance, persons in their buckets: The new persons of every region in their buckets, drawn with the secret; leftover persons of a region are in region 0.
insert into anon_scratch.main.placed_rows
with places as (
    select bucket, region, value, taken, sum(taken) over (partition by region, value order by bucket rows between unbounded preceding and current row) - taken as first
    from anon_scratch.main.regional_quotas
),
quota as (
    select region, value, sum(taken) as taken from places where region > 0 group by region, value
),
found as (
    select s.row_id, s.draw, s.value, m.class_id as region, row_number() over (partition by m.class_id, s.value order by md5_number(concat(hex(s.draw), ':region')), s.row_id) - 1 as rank
    from anon_scratch.main.members m
    join anon_scratch.main.units u on u.unit = m.unit
    join anon_scratch.main.standing s on s.row_id = u.row_id
),
regioned as (
    select f.row_id, f.draw, f.value, case when f.rank < coalesce(q.taken, 0) then f.region else 0 end as region
    from found f
    left join quota q on q.region = f.region and q.value = f.value
),
arriving as (
    select *, row_number() over (partition by region, value order by md5_number(concat(hex(draw), ':bucket')), row_id) - 1 as rank
    from regioned
)
select a.row_id, p.bucket, a.value, a.draw, true
from arriving a
join places p on p.region = a.region and p.value = a.value and a.rank >= p.first and a.rank < p.first + p.taken
