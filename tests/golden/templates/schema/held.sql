-- several_tables_two_events, cells of persons: What each person holds: the cells of the rows that are not suppressed, with the number of rows.
create or replace table anon_scratch.main.held_cells as
select class_id, person, cell, count(*) as n, max(top - step) as room
from anon_scratch.main.known_rows
where step <= top
group by class_id, person, cell
