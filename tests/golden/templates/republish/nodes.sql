-- m_invariance, buckets as nodes: Each bucket as one node, with the place of every row in the domains. A counterfeit has the place of some row of its bucket, and is not counted in any extent.
create or replace table anon_scratch.main.nodes as
with sizes as (
    select bucket, count(*) // count(distinct value) as copies, count(*) filter (where id > 0) as real
    from anon_scratch.main.placed_rows
    group by bucket
),
seats as (
    select p.*, s.copies, s.real, row_number() over (partition by p.bucket, p.id > 0 order by md5_number(concat(hex(p.draw), ':seat')), p.id) as seat
    from anon_scratch.main.placed_rows p
    join sizes s on s.bucket = p.bucket
),
placed_codes as (
    select s.id, s.bucket, s.copies, s.value, s.draw, coalesce(l.id, s.id) as row_id
    from seats s
    left join seats l on s.id < 0 and l.id > 0 and l.bucket = s.bucket and l.seat = (s.seat - 1) % s.real + 1
)
select
    p.id,
    0 as level,
    p.bucket as node,
    cast(p.copies as bigint) as copies,
    p.value,
    p.draw
    , case when r.c1 = 0 then -1 else coalesce(d1.share, 0) end as p1
from placed_codes p
join anon_scratch.main.coded r on r.row_id = p.row_id
join anon_scratch.main.domain_1 d1 on d1.code = r.c1
