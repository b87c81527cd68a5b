-- m_invariance, rows in their buckets: Every row of a bucket that is balanced, and every counterfeit. The buckets of new persons are drawn with the secret.
create or replace table anon_scratch.main.placed_rows as
with places as (
    select bucket, value, taken, sum(taken) over (partition by value order by bucket rows between unbounded preceding and current row) - taken as first
    from anon_scratch.main.quotas
),
arriving as (
    select row_id, draw, value, row_number() over (partition by value order by md5_number(concat(hex(draw), ':bucket')), row_id) - 1 as rank
    from anon_scratch.main.standing
    where signature is null
),
forged as (
    select bucket, value, unnest(generate_series(0, forged - 1)) as copy from anon_scratch.main.quotas where forged > 0
),
origin as (
    select min(draw) as draw from anon_scratch.main.coded
)
select s.row_id as id, q.bucket, s.value, s.draw, false as free
from anon_scratch.main.standing s
join (select distinct signature, bucket from anon_scratch.main.quotas where signature > 0) q on q.signature = s.signature
union all
select a.row_id, p.bucket, a.value, a.draw, true
from arriving a
join places p on p.value = a.value and a.rank >= p.first and a.rank < p.first + p.taken
union all
select
    -row_number() over (order by f.bucket, f.value, f.copy),
    f.bucket,
    f.value,
    md5_number(concat(hex(o.draw), ':counterfeit ', f.bucket, ':', f.value, ':', f.copy)),
    true
from forged f
cross join origin o
