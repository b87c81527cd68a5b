-- m_invariance, classes: The final nodes as classes of units.
create or replace table anon_scratch.main.members as
select u.unit, g.class_id
from anon_scratch.main.groups g
join anon_scratch.main.units u on u.row_id = g.id
