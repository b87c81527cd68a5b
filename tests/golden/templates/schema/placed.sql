-- several_tables_everybody_reserved, final rows: The empty table of rows with their final steps, or all rows where no further search is needed.
create or replace table anon_scratch.main.placed_rows as
select * from anon_scratch.main.known_rows
-- 1 branch as in the template, 86134a65
