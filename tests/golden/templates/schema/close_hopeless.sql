-- several_tables, close what cannot pay: Close the open classes whose further cuts cannot save anything: the events of the halves of a class lose as much as the whole class loses in total, and smaller classes lose no less.
create or replace table anon_scratch.main.open_units as
with last as (
    select class_id, parent, of_events from anon_scratch.main.partition_tree
    where depth = (select max(depth) from anon_scratch.main.partition_tree)
),
hopeless as (
    select l.parent
    from last l
    join anon_scratch.main.partition_tree t on t.class_id = l.parent and t.depth = (select max(depth) - 1 from anon_scratch.main.partition_tree)
    group by l.parent, t.of_cells, t.of_events
    having sum(l.of_events) >= t.of_cells + t.of_events
)
select o.* replace (o.closed or h.parent is not null as closed)
from anon_scratch.main.open_units o
join last l on l.class_id = o.class_id
left join hopeless h on h.parent = l.parent
