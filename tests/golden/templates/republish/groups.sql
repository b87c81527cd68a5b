-- m_invariance, final groups: The final nodes, with numbers.
create or replace table anon_scratch.main.groups as
select id, dense_rank() over (order by level, node) as class_id, value, draw
from anon_scratch.main.nodes
