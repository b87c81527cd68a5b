-- mondrian_parts_of_persons, leaves to judge: The units of the leaves of the tree, to be judged under rules on persons: a group for every leaf, or for all that may share a class there.
create or replace table anon_scratch.main.asked_leaves as
select cast(o.node as bigint) as grp, u.unit
from (
    select distinct o.node, o.first_leaf, o.last_leaf
    from anon_scratch.main.nodes_of_cuts o
    where not exists (select 1 from anon_scratch.main.nodes_of_cuts c where c.parent = o.node)

) o
join anon_scratch.main.units u on u.leaf between o.first_leaf and o.last_leaf
-- 3 branches as in the template, 4308287c
