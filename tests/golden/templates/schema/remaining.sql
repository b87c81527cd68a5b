-- several_tables_everybody_reserved, rows of visits that are left: The rows of a table that are left, with the class and number of their person.
create or replace table anon_scratch.main.remaining_1 as
select k.*, m.class_id, o.person as number
from anon_scratch.main.rows_1 k
join anon_scratch.main.owners o on o.owner = k.person
join anon_scratch.main.members m on m.unit = o.unit
anti join anon_scratch.main.gone_1 g on g.row_ref = k.rowid
-- 2 branches as in the template, e09bde87
