-- several_tables, least costs: The least cost of every node of one depth, beginning with the deepest: its own, or that of its parts.
insert into anon_scratch.main.least_costs
with below as (
    select depth - 1 as depth, parent, cast(sum(best) as hugeint) as cost
    from anon_scratch.main.least_costs
    group by depth, parent
)
select
    t.depth, t.class_id, t.parent, t.units,
    b.cost is null or t.of_cells + t.of_events <= b.cost as own,
    least(t.of_cells + t.of_events, b.cost) as best
from anon_scratch.main.partition_tree t
left join below b on b.depth = t.depth and b.parent = t.class_id
where t.depth = (select max(depth) from anon_scratch.main.partition_tree) - (select count(distinct depth) from anon_scratch.main.least_costs)
