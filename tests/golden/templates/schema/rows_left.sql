-- several_tables_two_events, rows that are left: The rows of all tables that are left, each with its person.
create or replace table anon_scratch.main.rows_left as
select 1 as source, c.row_ref, o.person, c.draw
from anon_scratch.main.coded_1 c
join anon_scratch.main.owners o on o.owner = c.owner
anti join anon_scratch.main.removed_rows r on r.source = 1 and r.row_ref = c.row_ref
union all
select 2 as source, c.row_ref, o.person, c.draw
from anon_scratch.main.coded_2 c
join anon_scratch.main.owners o on o.owner = c.owner
anti join anon_scratch.main.removed_rows r on r.source = 2 and r.row_ref = c.row_ref
