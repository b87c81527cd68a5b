-- mondrian_refine, losses of classes: The classes with their size and loss, in the order of their places: neighbours share ancestors.
create or replace table anon_scratch.main.refine_classes as
with sizes as (
    select m.class_id, cast(sum(u.n) as bigint) as n, count(*) as units
, bit_or(case when c3 between 0 and 2 then cast(1 as bigint) << (c3 + 0) else 0 end + case when c4 between 0 and 2 then cast(1 as bigint) << (c4 + 3) else 0 end) as w1
    from anon_scratch.main.members m
    join anon_scratch.main.units u on u.unit = m.unit
    group by m.class_id
),
lost as (
    select class_id, sum(lost) as lost
    from (select e.class_id, cast(case when e.attribute in (1) then case when different > 0 then (coalesce(h.share - l.share, 0) * (l.size - 1) + 1) / l.size else coalesce(h.share - l.share, 0) end when e.attribute in (2) then case when low = high then 0 when l.a1 = h.a1 then h.z1 when l.a2 = h.a2 then h.z2 when l.a3 = h.a3 then h.z3 when l.a4 = h.a4 then h.z4 when l.a5 = h.a5 then h.z5 else 1 end when e.attribute in (3, 4) then different / cast(l.size as double) end as decimal(18, 12)) as lost
from (
    select class_id, attribute, case when attribute in (3, 4) then 1 else low end as low, case when attribute in (3, 4) then 1 else high end as high, different
    from anon_scratch.main.refine_spans
    where case when attribute in (3, 4) then different > 1 else low < high or different > 0 end
) e
join anon_scratch.main.positions l on l.attribute = e.attribute and l.code = e.low
join anon_scratch.main.positions h on h.attribute = e.attribute and h.code = e.high
)
    group by class_id
)
select
    s.class_id, row_number() over (order by s.class_id) as place, s.n, s.units,
    cast(coalesce(l.lost, 0) as decimal(24, 12)) as lost,
    case when cast(bit_count(w1 & 7) as integer) > 1 then (cast(bit_count(w1 & 7) as integer)) / cast(size3 as double) else 0 end + case when cast(bit_count(w1 & 56) as integer) > 1 then (cast(bit_count(w1 & 56) as integer)) / cast(size4 as double) else 0 end as sets_lost, s.w1
from sizes s
cross join (select 1 as one, max(case when attribute = 3 then size end) as size3, max(case when attribute = 4 then size end) as size4 from anon_scratch.main.positions)
 d
left join lost l on l.class_id = s.class_id
