-- several_tables_everybody_reserved, rows of visits that are left: The rows of a table that are left, with the class and number of their person.
create or replace table anon_scratch.main.remaining_1 as
select k.*, m.class_id, o.person as number
from anon_scratch.main.rows_1 k
join anon_scratch.main.owners o on o.owner = k.person
join anon_scratch.main.members m on m.unit = o.unit
anti join anon_scratch.main.gone_1 g on g.row_ref = k.rowid
, k.rowid as row_ref  -- several_tables_three_events, rows of visits that are left: select k.*{% if source is not none %}, k.rowid as row_ref{% endif %}, m.class_id, o.person as number
and g.source = 1  -- several_tables_three_events, rows of visits that are left: anti join {{ gone | ident }} g on g.row_ref = k.rowid{% if source is not none %} and g.source = {{ source | lit }}{% endif %}
