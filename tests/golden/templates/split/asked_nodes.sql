-- mondrian_parts_of_persons, nodes to judge: The units of the nodes around a leaf that fails rules on persons. All others hold them, since the rules are preserved under union; the whole table was judged before.
create or replace table anon_scratch.main.asked_nodes as
-- 4 lines as in templates/split/asked_leaves.sql, mondrian_parts_of_persons, leaves to judge
    join (
    select distinct n.first_leaf as first, n.last_leaf as last
    from anon_scratch.main.nodes_of_cuts n
    join (select distinct grp as node from anon_scratch.main.asked_leaves_verdicts where holds is not true) v on v.node = n.node
) failed on failed.first between o.first_leaf and o.last_leaf
where o.parent > 0 and exists (select 1 from anon_scratch.main.nodes_of_cuts c where c.parent = o.node)

) o
join anon_scratch.main.units u on u.leaf between o.first_leaf and o.last_leaf
