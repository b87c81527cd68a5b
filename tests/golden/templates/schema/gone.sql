-- several_tables_everybody_reserved, unpublished rows of visits: The rows of a table that are not published: suppressed rows, omitted rows, and rows that refer to them.
create or replace table anon_scratch.main.gone_1 as
select c.row_ref
from anon_scratch.main.coded_1 c
anti join (select row_ref from anon_scratch.main.placed_rows where source = 1 and step <= top) p on p.row_ref = c.row_ref
-- 3 branches as in the template, 72388f6d
