-- mondrian_refine, spans of classes: The span of every class in every attribute, and how far it would reach without its ends.
create or replace table anon_scratch.main.refine_spans as
with ends as (
    select
        class_id, attribute,
        min(case when attribute in (2) or code > 0 then code end) as low, max(case when attribute in (2) or code > 0 then code end) as high,
        case when attribute in (3, 4) then count(*) when attribute in (1) then max(case when code = 0 then 1 else 0 end) else 0 end as different
    from anon_scratch.main.refine_held
    group by class_id, attribute
),
within as (
    select
        h.class_id, h.attribute,
        min(case when case when h.attribute in (2) or h.code > 0 then h.code end > e.low then h.code end) as next_low,
        max(case when case when h.attribute in (2) or h.code > 0 then h.code end < e.high then h.code end) as next_high
    from anon_scratch.main.refine_held h
    join ends e on e.class_id = h.class_id and e.attribute = h.attribute
    group by h.class_id, h.attribute
)
select e.*, w.next_low, w.next_high
from ends e
join within w on w.class_id = e.class_id and w.attribute = e.attribute
