-- several_tables_everybody_reserved, unpublished rows of visits: The rows of a table that are not published: suppressed rows, omitted rows, and rows that refer to them.
create or replace table anon_scratch.main.gone_1 as
select c.row_ref
from anon_scratch.main.coded_1 c
anti join (select row_ref from anon_scratch.main.placed_rows where source = 1 and step <= top) p on p.row_ref = c.row_ref
union  -- several_tables_everybody_reserved, unpublished rows of labs: {% if (events or evened) and above is not none %}
-- several_tables_everybody_reserved, unpublished rows of labs: {% if above is not none %}
select c.row_ref
from anon_scratch.main.coded_2 c
semi join anon_scratch.main.gone_1 g on g.row_ref = c.above
select row_ref from anon_scratch.main.removed_rows where source = 1  -- several_tables_rows, unpublished rows of visits: {% elif evened %}
