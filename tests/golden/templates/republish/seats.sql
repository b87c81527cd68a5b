-- m_invariance, rows as extents: The final nodes as classes, numbered so that near ones have near numbers, with the extent of every row. A counterfeit has none: it takes the codes of its class.
create or replace table anon_scratch.main.seats as
with signed as (
    select bucket, min(bucket) over (partition by signature) as signed
    from (select bucket, list(distinct value order by value) as signature from anon_scratch.main.placed_rows group by bucket) b
)
, d1 as (
    select code, cast(round(10000000 * coalesce(share, 0)) as bigint) as place
    from anon_scratch.main.domain_1
)
-- 4 lines of the template, cd4d14bb
    , case when u.c1 = 0 then 40000000 else d1.place end as l1
    , case when u.c1 = 0 then -40000000 else d1.place end as h1
    , u.c1
from anon_scratch.main.nodes n
join anon_scratch.main.placed_rows p on p.id = n.id
join signed g on g.bucket = p.bucket
left join anon_scratch.main.coded u on u.row_id = n.id
left join d1 on d1.code = u.c1
