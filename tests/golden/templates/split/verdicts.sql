-- mondrian_parts, guarantees in the nodes: Whether every node of the tree satisfies the guarantees as one class.
create or replace table anon_scratch.main.verdicts_on_nodes as
with sizes as (
    select o.node, o.parent, o.first_leaf, o.last_leaf, cast(coalesce(sum(l.n), 0) as bigint) as n
    from anon_scratch.main.nodes_of_cuts o
    left join anon_scratch.main.leaves_of_cuts l on l.leaf between o.first_leaf and o.last_leaf
    group by o.node, o.parent, o.first_leaf, o.last_leaf
),
counted_1 as (
    select u.leaf, c.value, cast(sum(c.n) as bigint) as n
    from anon_scratch.main.cells_1 c
    join anon_scratch.main.units u on u.unit = c.unit
    group by u.leaf, c.value
),
present_1 as (
    select o.node, c.value, cast(sum(c.n) as bigint) as n
    from anon_scratch.main.nodes_of_cuts o
    join counted_1 c on c.leaf between o.first_leaf and o.last_leaf
    group by o.node, c.value
),
layer_1_0 as (
    -- the columns by which rules tell the halves of cuts apart
    select o.node as class_id, 0 as attribute, 0 as code, false as single, 0 as side, c.n, r.*
    from anon_scratch.main.nodes_of_cuts o
    join present_1 c on c.node = o.node
    join anon_scratch.main.reference_1 r on r.value = c.value
),
held_1 as (
    select class_id as node
    from layer_1_0
    group by class_id
    having (count(*) filter (where value > 0 and n > 0) >= 2)
),
judged as (
    select
        s.*,
        s.n >= 2 and s.node in (select node from held_1) as holds
    from sizes s
)
select node, parent, first_leaf, last_leaf, holds from judged
-- mondrian_parts_of_rows, guarantees in the nodes: {% for layer in p.layers %}
layer_1_1 as (
    select *, cast(sum(n) over (partition by class_id, attribute, code, single, side) as bigint) as "group_size"
    from layer_1_0
),
-- mondrian_parts_of_rows, guarantees in the nodes: {% if p.runs %}
run_2 as (
    -- 7 lines of mondrian/_judged.sql.j2, 1ebd10f9
    from layer_2_2
    where group_size > 0
),
-- the last value up to which the release has no more than that many units
overtaken_2 as (
    -- 7 lines of mondrian/_judged.sql.j2, 4ef239d1
            select distinct reached_units, 1 as asked, 0 as place, 0 as area from run_2
            union all
            select upto, 0, place, area from anon_scratch.main.reference_2
        -- 6 lines of mondrian/_judged.sql.j2, 1bdf3a45
crossed_2 as (
    -- 8 lines of mondrian/_judged.sql.j2, 7818dabf
    from run_2 r
    join overtaken_2 o on o.reached_units = r.reached_units
),
areas_2 as (
    -- 5 lines of mondrian/_judged.sql.j2, ed5e55cd
    from crossed_2
),
-- 7 branches as in the template, f2204947
