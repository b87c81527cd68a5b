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
coalesce(c.n, 0) as n  -- mondrian_parts_of_rows, guarantees in the nodes: select o.node as class_id, 0 as attribute, 0 as code, false as single, 0 as side, {% if p.dense %}coalesce(c.n, 0) as n{% else %}c.n{% endif %}, r.*
-- mondrian_parts_of_rows, guarantees in the nodes: {% if p.dense %}
    cross join anon_scratch.main.reference_1 r
    left join present_1 c on c.node = o.node and c.value = r.value
-- mondrian_parts_of_rows, guarantees in the nodes: {% for layer in p.layers %}
layer_1_1 as (
    select *, cast(sum(n) over (partition by class_id, attribute, code, single, side) as bigint) as "group_size"
    from layer_1_0
),
-- mondrian_parts_of_rows, guarantees in the nodes: {% if p.runs %}
-- 49 lines as in templates/mondrian/choose_cuts.sql, mondrian_driven_median, choose cuts
areas_2  -- mondrian_parts_of_rows, guarantees in the nodes: from {% if p.runs %}areas_{{ i }}{% else %}layer_{{ i }}_{{ p.layers | length | lit }}{% endif %}
and s.node not in (select grp from anon_scratch.main.asked_leaves_verdicts where holds is not true)  -- mondrian_parts_of_persons, guarantees in the nodes: s.n >= {{ k | lit }}{% if apart %} and s.node in (select node from fewest where n >= {{ k | lit }}){% endif %}{% for verdicts in persons %} and s.node not in (select {{ node }} from {{ verdicts | ident }} where holds is not true){% endfor %}{% if compared %} and s.node in (select node from {{ compared | ident }} where holds){% endif %}{% for p in protections %} and s.node in (select node from held_{{ p.index | lit }}){% endfor %} as holds
and s.node in (select node from anon_scratch.main.population_compared where holds)  -- mondrian_parts_of_persons, guarantees in the nodes: s.n >= {{ k | lit }}{% if apart %} and s.node in (select node from fewest where n >= {{ k | lit }}){% endif %}{% for verdicts in persons %} and s.node not in (select {{ node }} from {{ verdicts | ident }} where holds is not true){% endfor %}{% if compared %} and s.node in (select node from {{ compared | ident }} where holds){% endif %}{% for p in protections %} and s.node in (select node from held_{{ p.index | lit }}){% endfor %} as holds
-- lgb_parts, guarantees in the nodes: {% if apart %}
-- every group that a node has is a first class there
fewest as (
    select node, min(n) as n
    from (
        select o.node, g.pattern, sum(g.n) as n
        from anon_scratch.main.nodes_of_cuts o
        join (select leaf, pattern, sum(n) as n from anon_scratch.main.units group by leaf, pattern) g
            on g.leaf between o.first_leaf and o.last_leaf
        group by o.node, g.pattern
    ) counted_groups
    group by node
),
and s.node in (select node from fewest where n >= 2)  -- lgb_parts, guarantees in the nodes: s.n >= {{ k | lit }}{% if apart %} and s.node in (select node from fewest where n >= {{ k | lit }}){% endif %}{% for verdicts in persons %} and s.node not in (select {{ node }} from {{ verdicts | ident }} where holds is not true){% endfor %}{% if compared %} and s.node in (select node from {{ compared | ident }} where holds){% endif %}{% for p in protections %} and s.node in (select node from held_{{ p.index | lit }}){% endfor %} as holds
