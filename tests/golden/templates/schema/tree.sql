-- several_tables_everybody_reserved, root of the tree: The classes that were cut last, as nodes of the partition tree with their cost; first, the root.
create or replace table anon_scratch.main.partition_tree as
with boxes as (
    select
        class_id, count(*) as units, cast(sum(n) as bigint) as n
        , min(c1) filter (where c1 > 0) as low1
        , max(c1) as high1
        , max(case when c1 = 0 then 1 else 0 end) as different1
        , min(c2) filter (where c2 > 0) as low2
        , max(c2) as high2
        , count(distinct c2) as different2
        , min(c3) filter (where c3 > 0) as low3
        , max(c3) as high3
        , max(case when c3 = 0 then 1 else 0 end) as different3
    from anon_scratch.main.open_units
    group by class_id
),
extents as (
    select class_id, n, 1 as attribute, coalesce(low1, 0) as low, high1 as high, different1 as different
    from boxes
    where low1 < high1 or different1 > 0
    union all
    select class_id, n, 2 as attribute, coalesce(low2, 0) as low, high2 as high, different2 as different
    from boxes
    where low2 < high2 or different2 > 1
    union all
    select class_id, n, 3 as attribute, coalesce(low3, 0) as low, high3 as high, different3 as different
    from boxes
    where low3 < high3 or different3 > 0
-- 5 lines of the template, b9bd8b5f
    join anon_scratch.main.positions l on l.attribute = e.attribute and l.code = e.low
),
lost as (
    select e.class_id, sum(cast(e.n * case when e.attribute in (1) then case when different > 0 then (coalesce(h.share - l.share, 0) * (l.size - 1) + 1) / l.size else coalesce(h.share - l.share, 0) end when e.attribute in (2) then different / cast(l.size as double) when e.attribute in (3) then case when low = high then 0 when l.a1 = h.a1 then h.z1 when l.a2 = h.a2 then h.z2 when l.a3 = h.a3 then h.z3 when l.a4 = h.a4 then h.z4 else 1 end end as decimal(38, 12))) as lost
    from from_low e
    join anon_scratch.main.positions h on h.attribute = e.attribute and h.code = e.high
    group by e.class_id
)
select
0 as depth,
    b.class_id,
cast(0 as bigint) as parent,
    b.units,
    cast(round(cast(coalesce(l.lost, 0) as double) * CAST(5555555555555556.0 AS DOUBLE)) as hugeint) as of_cells,
    cast(round(cast(coalesce(c.lost, 0) as double) * CAST(2217.2949002217297 AS DOUBLE)) as hugeint) as of_events
from boxes b
left join lost l on l.class_id = b.class_id
left join anon_scratch.main.event_costs c on c.class_id = b.class_id
-- 5 branches as in the template, 84f5427d
