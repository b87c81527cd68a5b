-- mondrian_parts_of_persons, leaves to judge: The units of the leaves of the tree, to be judged under rules on persons: a group for every leaf, or for all that may share a class there.
create or replace table anon_scratch.main.asked_leaves as
select cast(o.node as bigint) as grp, u.unit
from (
    select distinct o.node, o.first_leaf, o.last_leaf
    from anon_scratch.main.nodes_of_cuts o
    where not exists (select 1 from anon_scratch.main.nodes_of_cuts c where c.parent = o.node)

) o
join anon_scratch.main.units u on u.leaf between o.first_leaf and o.last_leaf
-- lgb_parts_of_persons, leaves to judge: {% if apart %}
with kinds as (
    select pattern, row_number() over (order by pattern) - 1 as kind
    from (select distinct pattern from anon_scratch.main.units) found
)
o.node * 1048576 + k.kind  -- lgb_parts_of_persons, leaves to judge: select cast({% if apart %}o.node * {{ most_kinds | lit }} + k.kind{% else %}o.node{% endif %} as bigint) as grp, u.unit
join kinds k on k.pattern = u.pattern  -- lgb_parts_of_persons, leaves to judge: {% if apart %}
