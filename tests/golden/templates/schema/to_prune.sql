-- several_tables, depths to decide: How many depths of the tree have not been decided.
select (select count(distinct depth) from anon_scratch.main.partition_tree) - (select count(distinct depth) from anon_scratch.main.least_costs)
