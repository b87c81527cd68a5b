-- name: _asked
-- The units of some nodes of the tree, as groups to be judged; the caller says which nodes.
{% macro of_nodes() %}
{% if apart %}
with kinds as (
    select {{ apart }}, row_number() over (order by {{ apart }}) - 1 as kind
    from (select distinct {{ apart }} from {{ units | ident }}) found
)
{% endif %}
select cast({% if apart %}o.node * {{ most_kinds | lit }} + k.kind{% else %}o.node{% endif %} as bigint) as grp, u.unit
from (
    select distinct o.node, o.first_leaf, o.last_leaf
    from {{ nodes | ident }} o
    {{ caller() }}
) o
join {{ units | ident }} u on u.leaf between o.first_leaf and o.last_leaf
{% if apart %}
join kinds k on k.{{ apart }} = u.{{ apart }}
{% endif %}
{%- endmacro %}

-- name: population_verdicts
-- Whether every node of the tree satisfies the population models as one class, and whether the cut
-- that made it leaves no member of the population outside where none may be.
{% from "mondrian/_population" import boxes, admits, surely with context %}
create or replace table {{ compared | ident }} as
with of_nodes as (
    select o.node as grp, u.unit
    from {{ nodes | ident }} o
    join {{ units | ident }} u on u.leaf between o.first_leaf and o.last_leaf
),
{{ boxes("of_nodes" | ident) }},
sizes as (
    select o.node as grp, o.parent, cast(sum(l.n) as bigint) as n
    from {{ nodes | ident }} o
    join {{ leaves | ident }} l on l.leaf between o.first_leaf and o.last_leaf
    group by o.node, o.parent
),
pairs as materialized (
    select b.grp, p.tuple, p.members, {{ surely() }} as sure
    from boxes b
    join {{ tuples | ident }} p on {{ admits() }}
),
matches as (
    select
        s.grp,
        s.parent,
        s.n,
        cast(coalesce(sum(x.members) filter (where x.sure), 0) as bigint) as sure,
        cast(coalesce(sum(x.members), 0) as bigint) as possible
    from sizes s
    left join pairs x on x.grp = s.grp
    group by s.grp, s.parent, s.n
)
{% if all_matched %},
kept as (
    select s.parent, count(distinct x.tuple) as tuples
    from sizes s
    join pairs x on x.grp = s.grp
    where x.sure
    group by s.parent
),
had as (
    select grp, count(*) as tuples from pairs group by grp
)
{% endif %}

select m.grp as node, {{ holds }}{% if all_matched %} and (m.parent = 0 or coalesce(k.tuples = h.tuples, false)){% endif %} as holds
from matches m
{% if all_matched %}
left join kept k on k.parent = m.parent
left join had h on h.grp = m.parent
{% endif %}

-- name: verdicts
-- Whether every node of the tree satisfies the guarantees as one class.
{% from "mondrian/_valid_cuts" import areas_of_runs with context %}
create or replace table {{ verdicts | ident }} as
with sizes as (
    select o.node, o.parent, o.first_leaf, o.last_leaf, cast(coalesce(sum(l.n), 0) as bigint) as n
    from {{ nodes | ident }} o
    left join {{ leaves | ident }} l on l.leaf between o.first_leaf and o.last_leaf
    group by o.node, o.parent, o.first_leaf, o.last_leaf
),
{% for p in protections %}
{% set i = p.index | lit %}
counted_{{ i }} as (
    select u.leaf, c.value, cast(sum(c.n) as bigint) as n
    from {{ p.cells | ident }} c
    join {{ units | ident }} u on u.unit = c.unit
    group by u.leaf, c.value
),
present_{{ i }} as (
    select o.node, c.value, cast(sum(c.n) as bigint) as n
    from {{ nodes | ident }} o
    join counted_{{ i }} c on c.leaf between o.first_leaf and o.last_leaf
    group by o.node, c.value
),
layer_{{ i }}_0 as (
    -- the columns by which rules tell the halves of cuts apart
    select o.node as class_id, 0 as attribute, 0 as code, false as single, 0 as side, {% if p.dense %}coalesce(c.n, 0) as n{% else %}c.n{% endif %}, r.*
    from {{ nodes | ident }} o
    {% if p.dense %}
    cross join {{ p.reference | ident }} r
    left join present_{{ i }} c on c.node = o.node and c.value = r.value
    {% else %}
    join present_{{ i }} c on c.node = o.node
    join {{ p.reference | ident }} r on r.value = c.value
    {% endif %}
),
{% for layer in p.layers %}
layer_{{ i }}_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ i }}_{{ loop.index0 | lit }}
),
{% endfor %}
{% if p.runs %}
{{ areas_of_runs(p) }}
{% endif %}
valid_nodes_{{ i }} as (
    select class_id as node
    from {% if p.runs %}areas_{{ i }}{% else %}layer_{{ i }}_{{ p.layers | length | lit }}{% endif %}

    group by class_id
    having {{ p.holds }}
),
{% endfor %}
{% if apart %}
-- every group that a node has is a first class there
fewest as (
    select node, min(n) as n
    from (
        select o.node, g.{{ apart }}, sum(g.n) as n
        from {{ nodes | ident }} o
        join (select leaf, {{ apart }}, sum(n) as n from {{ units | ident }} group by leaf, {{ apart }}) g
            on g.leaf between o.first_leaf and o.last_leaf
        group by o.node, g.{{ apart }}
    ) counted_groups
    group by node
),
{% endif %}
results as (
    select
        s.*,
        s.n >= {{ k | lit }}{% if apart %} and s.node in (select node from fewest where n >= {{ k | lit }}){% endif %}{% for verdicts in persons %} and s.node not in (select {{ node }} from {{ verdicts | ident }} where holds is not true){% endfor %}{% if compared %} and s.node in (select node from {{ compared | ident }} where holds){% endif %}{% for p in protections %} and s.node in (select node from valid_nodes_{{ p.index | lit }}){% endfor %} as holds
    from sizes s
)
select node, parent, first_leaf, last_leaf, holds from results

-- name: asked_leaves
-- The units of the leaves of the tree, to be judged under rules on persons: a group for every leaf,
-- or for all that may share a class there.
{% from "split/_asked" import of_nodes with context %}
create or replace table {{ asked | ident }} as
{% call of_nodes() %}
where not exists (select 1 from {{ nodes | ident }} c where c.parent = o.node)
{% endcall %}

-- name: leaves
-- Every leaf of the tree with its units and its rows (persons), counted over all tuples.
create or replace table {{ leaves | ident }} as
select leaf, min(unit) as first_unit, max(unit) as last_unit, count(*) as units, cast(sum(n) as bigint) as n
from {{ units | ident }}
group by leaf

-- name: asked_nodes
-- The units of the nodes around a leaf that fails rules on persons. All others hold them, since the
-- rules are preserved under union; the whole table was judged before.
{% from "split/_asked" import of_nodes with context %}
create or replace table {{ asked | ident }} as
{% call of_nodes() %}
join (
    select distinct n.first_leaf as first, n.last_leaf as last
    from {{ nodes | ident }} n
    join (select distinct {{ node }} as node from {{ verdicts | ident }} where holds is not true) v on v.node = n.node
) failed on failed.first between o.first_leaf and o.last_leaf
where o.parent > 0 and exists (select 1 from {{ nodes | ident }} c where c.parent = o.node)
{% endcall %}

-- name: tuples
-- The distinct quasi-identifier tuples with their counts, before they have numbers.
create or replace table {{ tuples | ident }} as
select {{ keys | join }}{% if codes %}, {{ codes | join }}{% endif %}, {{ count }} as n, min(draw) as draw
from {{ coded | ident }}
group by {{ keys | join }}

-- name: sample
-- A sample of the distinct tuples: those with the smallest draws, if there are enough tuples for
-- several parts. A tuple has the smallest draw of its rows, which is the smaller the more rows it
-- has; so the draw counts as often as there are rows, and every tuple is as likely as any other.
-- parameters: threshold: of the draw's leading bits; apart: tuples that no class mixes stand together
create or replace table {{ sample | ident }} as
select
    row_number() over (order by {% if apart %}{{ apart }}, {% endif %}draw) as unit,
    cast(1 as bigint) as n{% if apart %}, {{ apart }}{% endif %}{% for a in attributes %}, {{ a.c }}{% endfor %}

from (
    select *{% for code, name in unpacked %}, {{ code }} as {{ name }}{% endfor %}

    from {{ tuples | ident }}
    where cast(draw >> {{ bits | lit }} as bigint) * least(n, 1073741824) < {{ threshold | lit }}
        and (select count(*) from {{ tuples | ident }}) > {{ above | lit }}
) sampled

-- name: no_tree
-- The tree of coarse cuts before the first of them. Tuples that no class mixes have a root each, with
-- what they have in common as code.
create or replace table {{ tree | ident }} as
{% if apart %}
select
    cast(0 as bigint) as level, cast(min(unit) as bigint) as node, cast(0 as integer) as attribute,
    cast({{ apart }} as bigint) as code, false as single, cast(sum(n) as bigint) as units_left
from {{ sample | ident }}
group by {{ apart }}
{% else %}
select
    cast(0 as bigint) as level, unit as node, cast(0 as integer) as attribute, cast(0 as integer) as code,
    false as single, n as units_left
from {{ sample | ident }}
where false
{% endif %}

-- name: tree
-- The coarse cuts, level by level.
select level, node, attribute, code, single, units_left
from {{ tree | ident }}
order by level, node

-- name: grow_tree
-- The cuts of a level, added to the tree.
insert into {{ tree | ident }}
select
    (select coalesce(max(level), 0) + 1 from {{ tree | ident }}),
    class_id, attribute, code, single, units_left
from {{ chosen | ident }}

-- name: units
-- The distinct tuples as units, numbered in the order of the leaves of the tree: a leaf, and every node of
-- the tree, is a range of units. Codes that are made from the keys are made again after the rows were
-- sorted, which need half of the memory without them.
create or replace table {{ units | ident }} as
with placed as (
    select {{ leaf }} as leaf, {% if unpacked %}{{ keys | join }}, n, draw{% else %}*{% endif %}

    from (select *{% for code, name in unpacked %}, {{ code }} as {{ name }}{% endfor %} from {{ tuples | ident }}) coded_tuples
),
numbered as (
    select row_number() over (order by leaf, {{ keys | join }}) as unit, *
    from placed
)
select *{% for code, name in unpacked %}, {{ code }} as {{ name }}{% endfor %}

from numbered

-- name: units.spark
-- The units as on the other engines. The numbers end the statement, where Spark finds them and numbers
-- every leaf by itself: a window over all tuples would be one task.
create or replace table {{ units | ident }} as
with placed as (
    select {{ leaf }} as leaf, *
    from (select *{% for code, name in unpacked %}, {{ code }} as {{ name }}{% endfor %} from {{ tuples | ident }}) coded_tuples
)
select row_number() over (order by leaf, {{ keys | join }}) as unit, *
from placed

-- name: node_verdicts
-- Every node with its parent and whether it satisfies the guarantees.
select node, parent, first_leaf, last_leaf, holds
from {{ verdicts | ident }}
order by node

-- name: units_of_part
-- The units of a part with their codes.
select unit, n{% for column in carried %}, {{ column }}{% endfor %}, {{ codes | join }}
from {{ units | ident }}
where unit between $first and $last

-- name: positions_of_part
-- The places in the domains of all codes that a part has. Shares and sizes are those of the whole
-- table, so that losses are the same as there.
with mine as (
    select {{ codes | join }} from {{ units | ident }} where unit between $first and $last
),
codes as (
    {% for a in attributes %}
    select {{ a.index | lit }} as attribute, {{ a.c }} as code from mine group by {{ a.c }}
    union
    {% endfor %}
    -- the size of a domain is read at its first place, whichever codes the part has
    select attribute, 1 from {{ positions | ident }}
)
select p.*
from {{ positions | ident }} p
join codes c on c.attribute = p.attribute and c.code = p.code

-- name: domain_of_part
-- The values of one quasi-identifier that a part has. Shares and sizes are those of the whole table.
select *
from {{ domain | ident }}
where code in (select {{ code }} from {{ units | ident }} where unit between $first and $last)

-- name: population_of_part
-- The tuples of the population that match a part.
{% from "mondrian/_population" import boxes, admits with context %}
with everyone as (
    select 1 as grp, unit from {{ units | ident }} where unit between $first and $last
),
{{ boxes("everyone" | ident) }}
select p.*
from boxes b
join {{ tuples | ident }} p on {{ admits() }}

-- name: cells_of_part
-- What a table has of the units of a part: their sensitive values, their persons.
select *
from {{ cells | ident }}
where unit between $first and $last

-- name: parts
-- Every part as a range of units, and how many it has.
select p.part, min(l.first_unit), max(l.last_unit), cast(sum(l.units) as bigint)
from {{ parts | ident }} p
join {{ leaves | ident }} l on l.leaf between p.first_leaf and p.last_leaf
group by p.part
order by p.part

-- name: members
-- The empty table of final classes.
create or replace table {{ members | ident }} as
select unit, unit as class_id from {{ units | ident }} where false
