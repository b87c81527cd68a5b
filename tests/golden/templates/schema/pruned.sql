-- several_tables, pruned tree: The classes of the pruned tree: the uppermost nodes that cost no more than their parts. A node owns the positions from its number on, one per unit, so that what is under another node follows it.
create or replace table anon_scratch.main.members as
with reached as (
    select
        class_id, depth,
        max(class_id + units) over (order by class_id, depth rows between unbounded preceding and 1 preceding) as until
    from anon_scratch.main.least_costs
    where own
),
uppermost as (
    select class_id from reached where until is null or until <= class_id
)
select m.unit, u.class_id
from anon_scratch.main.members m
asof join uppermost u on m.class_id >= u.class_id
