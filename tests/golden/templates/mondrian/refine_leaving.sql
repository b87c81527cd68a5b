-- mondrian_refine, units to spare: The units that a class can spare, and what the class saves if one of them leaves.
create or replace table anon_scratch.main.refine_leaving as
with spared as (
    select u.unit, u.n, c.class_id, c.place, c.n as n_class, c.lost as lost_class
, case when c3 between 0 and 2 then cast(1 as bigint) << (c3 + 0) else 0 end + case when c4 between 0 and 2 then cast(1 as bigint) << (c4 + 3) else 0 end as w1
    from anon_scratch.main.members m
    join anon_scratch.main.units u on u.unit = m.unit
    join anon_scratch.main.refine_classes c on c.class_id = m.class_id
    where c.n - u.n >= 2 and c.units > 1 and c.lost > 0
),
valued as materialized (
    select p.unit, p.class_id, c.attribute, c.code
    from spared p
    join anon_scratch.main.refine_codes c on c.unit = p.unit
),
-- if a unit is the only one with an extreme value, the span of the others ends before it
rest as (
    select
        c.unit, c.attribute,
        case when h.units = 1 and c.code = s.low then s.next_low else s.low end as low,
        case when h.units = 1 and c.code = s.high then s.next_high else s.high end as high,
        case when h.units > 1 then s.different when c.attribute in (3, 4) then s.different - 1 when c.code = 0 then 0 else s.different end as different
    from valued c
    join anon_scratch.main.refine_spans s on s.class_id = c.class_id and s.attribute = c.attribute
    join anon_scratch.main.refine_held h on h.class_id = c.class_id and h.attribute = c.attribute and h.code = c.code
),
lost as (
    select unit, sum(lost) as lost
    from (select e.unit, cast(case when e.attribute in (1) then case when different > 0 then (coalesce(h.share - l.share, 0) * (l.size - 1) + 1) / l.size else coalesce(h.share - l.share, 0) end when e.attribute in (2) then case when low = high then 0 when l.a1 = h.a1 then h.z1 when l.a2 = h.a2 then h.z2 when l.a3 = h.a3 then h.z3 when l.a4 = h.a4 then h.z4 when l.a5 = h.a5 then h.z5 else 1 end when e.attribute in (3, 4) then different / cast(l.size as double) end as decimal(18, 12)) as lost
from (
    select unit, attribute, case when attribute in (3, 4) then 1 else low end as low, case when attribute in (3, 4) then 1 else high end as high, different
    from "rest"
    where case when attribute in (3, 4) then different > 1 else low < high or different > 0 end
) e
join anon_scratch.main.positions l on l.attribute = e.attribute and l.code = e.low
join anon_scratch.main.positions h on h.attribute = e.attribute and h.code = e.high
)
    group by unit
)
select
    p.unit, p.class_id, p.place, p.n,
    p.n_class * p.lost_class - (p.n_class - p.n) * cast(coalesce(l.lost, 0) as decimal(24, 12)) as saved
, p.w1
from spared p
left join lost l on l.unit = p.unit
where p.n_class * p.lost_class > (p.n_class - p.n) * cast(coalesce(l.lost, 0) as decimal(24, 12))
