-- several_tables_remaining, persons with equal numbers of rows: The persons of a class with equal numbers of rows, table by table, as they would remain.
create or replace table anon_scratch.main.choices as
-- 21 lines as in templates/schema/hanging.sql, several_tables_two_events, rows that do not count

select
    class_id, person,
    dense_rank() over (order by class_id, n1, n2) as candidates
from vectors
