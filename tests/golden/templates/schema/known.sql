-- several_tables, rows of classes: The rows of events in the classes of their persons, before any is raised.
create or replace table anon_scratch.main.known_rows as
select
    e.source, e.row_ref, e.above, e.person, m.class_id, e.tuple, e.draw, l.top, l.columns,
    cast(null as integer) as step, l.cell
from anon_scratch.main.events e
join anon_scratch.main.members m on m.unit = e.unit
join anon_scratch.main.ladders l on l.tuple = e.tuple and l.step = 0
anti join anon_scratch.main.removed_rows g on g.source = e.source and g.row_ref = e.row_ref
