-- mondrian_refine, offers to neighbours: The moves that pay, the best of each unit: its class saves more than the neighbouring class loses by taking it.
create or replace table anon_scratch.main.refine_offers as
with asked as materialized (
    select p.unit, p.target, c.attribute, c.code
    from anon_scratch.main.refine_pairs p
    join anon_scratch.main.refine_codes c on c.unit = p.unit
),
joined as (
    select
        c.unit, c.target, c.attribute,
        case when c.code = 0 and not c.attribute in (2) then s.low else least(coalesce(s.low, c.code), c.code) end as low,
        case when c.code = 0 and not c.attribute in (2) then s.high else greatest(coalesce(s.high, c.code), c.code) end as high,
        case when c.attribute in (3, 4) then s.different + case when h.code is null then 1 else 0 end
            when c.attribute in (1) and c.code = 0 then 1
            else s.different end as different
    from asked c
    join anon_scratch.main.refine_spans s on s.class_id = c.target and s.attribute = c.attribute
    left join anon_scratch.main.refine_held h on h.class_id = c.target and h.attribute = c.attribute and h.code = c.code
),
lost as (
    select unit, target, cast(sum(lost) as decimal(24, 12)) as lost
    from (select e.unit, e.target, cast(case when e.attribute in (1) then case when different > 0 then (coalesce(h.share - l.share, 0) * (l.size - 1) + 1) / l.size else coalesce(h.share - l.share, 0) end when e.attribute in (2) then case when low = high then 0 when l.a1 = h.a1 then h.z1 when l.a2 = h.a2 then h.z2 when l.a3 = h.a3 then h.z3 when l.a4 = h.a4 then h.z4 when l.a5 = h.a5 then h.z5 else 1 end when e.attribute in (3, 4) then different / cast(l.size as double) end as decimal(18, 12)) as lost
from (
    select unit, target, attribute, case when attribute in (3, 4) then 1 else low end as low, case when attribute in (3, 4) then 1 else high end as high, different
    from "joined"
    where case when attribute in (3, 4) then different > 1 else low < high or different > 0 end
) e
join anon_scratch.main.positions l on l.attribute = e.attribute and l.code = e.low
join anon_scratch.main.positions h on h.attribute = e.attribute and h.code = e.high
)
    group by unit, target
),
paying as (
    select
        p.unit, p.class_id, p.target,
        -- rounded, so that equal gains tie and no rounding error causes a move
        cast(p.saved + p.n_target * p.lost_target - (p.n_target + p.n) * l.lost as decimal(38, 6)) as gain
    from anon_scratch.main.refine_pairs p
    join lost l on l.unit = p.unit and l.target = p.target
)
select unit, class_id, target, gain
from (
    select *, row_number() over (partition by unit order by gain desc, target) as choice
    from paying
    where gain > 0
)
where choice = 1
