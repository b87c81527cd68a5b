-- several_tables, no costs yet: The empty table of the least costs below the nodes of the tree.
create or replace table anon_scratch.main.least_costs as
select depth, class_id, parent, units, true as own, of_cells + of_events as best
from anon_scratch.main.partition_tree
where false
