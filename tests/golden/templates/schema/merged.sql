-- several_tables, merge classes that break a rule: Merge every class that breaks a rule with the one before it (the first with the next): the tree numbers classes so that neighbours were parted last.
create or replace table anon_scratch.main.members as
with classes as (
    select class_id, class_id in (select class_id from anon_scratch.main.failing_classes) as fails, row_number() over (order by class_id) as place
    from (select distinct class_id from anon_scratch.main.members)
),
begun as (
    select class_id, place = 1 or not (fails or (place = 2 and lag(fails) over (order by place))) as begins
    from classes
),
groups as (
    select class_id, max(case when begins then class_id end) over (order by class_id rows unbounded preceding) as merged
    from begun
)
select m.unit, g.merged as class_id
from anon_scratch.main.members m
join groups g on g.class_id = m.class_id
