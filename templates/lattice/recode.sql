-- name: recoding
-- The node of every value of one column at every level, and what publishing it loses.
-- Level 0 is the value itself; NULL stays NULL up to the root, which covers it too. Losses of a
-- cell, in units of 10^-12: the normalized certainty penalty, the generalized loss metric, and
-- the distortion. Bounds of nodes that have none of their own are those of the listed values, or
-- of the source's.
-- parameters: nulls: the column has NULLs; losses: they are asked for; width: of a node, as distortion takes it
-- declared: the leaves are those of a given tree, else the values of the source
-- source: Xu et al. 2006 (NCP); Iyengar 2002 (GLM); Yaseen et al. 2018 (distortion)
{% set measures = ("ncp", "glm", "distortion") if losses else () %}
create or replace table {{ recoding | ident }} as
with
{% if losses or not ordered %}
extent as (
    select
        {% if ordered %}
        min({{ place_value }}) as first_place,
        max({{ place_value }}) as last_place
        {% else %}
        max(size) as size,
        count(*) filter (where code > 0) as present
        {% endif %}
    from {{ domain | ident }}
),
{% endif %}
{% if ordered and not bounded %}
extents as (
    {% if listed %}
    select level, node, min({{ typed }}) as lo, max({{ typed }}) as hi from {{ listed | ident }}
    {% else %}
    select level, node, min(value) as lo, max(value) as hi from {{ hierarchy | ident }}
    {% endif %}
    group by level, node
),
{% endif %}
nodes as (
    select
        h.level,
        h.node,
        count(*) as present,
        min(h.leaves) as leaves
        {% if ordered %}
        , min({{ lo }}) as lo
        , max({{ hi }}) as hi
        {% endif %}
        {% if losses %}
        , {{ width }} as width
        {% endif %}
    from {{ hierarchy | ident }} h
    {% if ordered and not bounded %}
    join extents e on e.level = h.level and e.node = h.node
    {% endif %}
    group by h.level, h.node
),
placed as (
    select
        n.*,
        {% if ordered %}
        n.level = {{ height | lit }} as at_root
        {% if losses %}
        , x.first_place
        , x.last_place
        {% endif %}
        {% else %}
        n.level = {{ height | lit }} or n.present = x.present as at_root
        {% if losses %}
        , {% if declared %}n.leaves{% else %}n.present{% endif %} as covered
        , {% if declared %}max(n.leaves) over (){% if nulls %} + 1{% endif %}{% else %}x.size{% endif %} as size
        {% endif %}
        {% endif %}
        {% if losses %}
        , max(case when n.level = {{ height | lit }} then n.width end) over () as root_width
        {% endif %}
    from nodes n
    {% if losses or not ordered %}
    cross join extent x
    {% endif %}
),
written as (
    select
        level,
        node
        {% if ordered %}
        {% if losses %}
        , case when at_root then 1
            else coalesce((least({{ place_hi }}, last_place) - greatest({{ place_lo }}, first_place)) / nullif(last_place - first_place, 0), 0)
        end as ncp
        {% endif %}
        {% else %}
        {% if losses %}
        , case when at_root then 1 when covered > 1 then covered / cast(size as double) else 0 end as ncp
        , case when at_root then 1 when covered > 1 then (covered - 1) / cast(size - 1 as double) else 0 end as glm
        {% endif %}
        {% endif %}
        {% if losses %}
        , case when level = {{ height | lit }} then 1 else coalesce(width / nullif(root_width, 0), 0) end as distortion
        {% endif %}
    from placed
),
lost as (
    select
        level,
        node
        {% for measure in measures %}
        , cast(round(least(greatest({{ ("ncp" if ordered and measure == "glm" else measure) | ident }}, 0), 1) * {{ one }}) as bigint){% if measure == "distortion" %} * {{ height | lit }}{% endif %} as {{ measure | ident }}
        {% endfor %}
    from written
)
select d.code, 0 as level, cast(d.code as bigint) as node{% for measure in measures %}, cast(0 as bigint) as {{ measure | ident }}{% endfor %}

from {{ domain | ident }} d
{% if height > 0 %}
union all
select d.code, w.level, w.node{% for measure in measures %}, w.{{ measure | ident }}{% endfor %}

from (
    select
        code,
        unnest([{% for level in levels %}{{ level.number | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as level,
        unnest([{% for level in levels %}{{ level.a }}{% if not loop.last %}, {% endif %}{% endfor %}]) as node
    from {{ domain | ident }}
    where code > 0
) d
join lost w on w.level = d.level and w.node = d.node
{% if nulls %}
union all
select d.code, v.level, 0{% for measure in measures %}, 0{% endfor %}

from {{ domain | ident }} d
cross join (select unnest(range(1, {{ height | lit }})) as level) v
where d.code = 0
union all
select d.code, {{ height | lit }}, coalesce(w.node, 0){% for measure in measures %}, {% if measure == "distortion" %}cast({{ one }} as bigint) * {{ height | lit }}{% else %}{{ one }}{% endif %}{% endfor %}

from {{ domain | ident }} d
left join lost w on w.level = {{ height | lit }}
where d.code = 0
{% endif %}
{% endif %}

-- name: paths
-- The packed path of every value of every column from the root of its hierarchy down.
-- parameters: fields: attribute, level, whether its hierarchy nests, the number of the first sibling,
-- the scale of its numbers in every word
create or replace table {{ paths | ident }} as
with climbed as (
    {% for a in attributes %}
    select {{ a.number }} as attribute, code, level, node from {{ a.recoding | ident }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
fields(attribute, level, nests, first_number{% for word in words %}, {{ word.w }}{% endfor %}) as (
    {% if fields %}
    values
    {% for row in fields %}
    ({{ row | lits | join }}){% if not loop.last %},{% endif %}

    {% endfor %}
    {% else %}
    select 0, 0, false, 0{% for word in words %}, 0{% endfor %} where false
    {% endif %}
),
numbered as (
    select
        c.attribute,
        c.code,
        case when c.code = 0 then 0 else f.first_number - 1 + dense_rank() over (
            partition by c.attribute, c.level, c.code = 0, case when f.nests then a.node end
            order by c.node
        ) end as number
        {% for word in words %}
        , f.{{ word.w }}
        {% endfor %}
    from climbed c
    join climbed a on a.attribute = c.attribute and a.code = c.code and a.level = c.level + 1
    join fields f on f.attribute = c.attribute and f.level = c.level
)
select
    c.attribute,
    c.code
    {% for word in words %}
    , cast(coalesce(sum(n.number * n.{{ word.w }}), 0) as bigint) as {{ word.w }}
    {% endfor %}
from climbed c
-- a column of NULLs only has no levels, and nothing but its code
left join numbered n on n.attribute = c.attribute and n.code = c.code
where c.level = 0
group by c.attribute, c.code

-- name: tuples
-- The distinct quasi-identifier tuples with their packed paths, over which the lattice is judged.
create or replace table {{ tuples | ident }} as
{% if persons %}
with records as (
    select {{ keys | join }}, count(*) as records
    from {{ coded | ident }}
    group by {{ keys | join }}
)
{% endif %}
select
    u.unit,
    u.n,
    {% if persons %}r.records{% else %}u.n{% endif %} as records
    {% for a in attributes %}
    , u.{{ a.c }}
    {% endfor %}
    {% for word in words %}
    , {% for a in attributes %}{{ a.p }}.{{ word.w }}{% if not loop.last %} + {% endif %}{% endfor %} as {{ word.w }}
    {% endfor %}
from {{ units | ident }} u
{% if persons %}
join records r on {% for key in keys %}r.{{ key }} = u.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}

{% endif %}
-- every code has its path, so left joins drop no row; they keep this join order, which saves the search for the best
{% for a in attributes %}
left join {{ paths | ident }} {{ a.p }} on {{ a.p }}.attribute = {{ a.number }} and {{ a.p }}.code = u.{{ a.c }}
{% endfor %}

-- name: levels
-- Every level of every column: its masks, the number of its values, the size of the smallest class
-- by this column alone, the losses of all rows (in units of 10^-12 cells), and the entropy of its
-- nodes (in 10^-6 nats).
create or replace table {{ levels | ident }} as
with
{% for a in attributes %}
counted_{{ a.number }} as (
    select {{ a.c }} as code, cast(sum(n) as bigint) as n, cast(sum(records) as bigint) as records
    from {{ tuples | ident }}
    group by 1
),
nodes_{{ a.number }} as (
    select
        {{ a.number }} as attribute, r.level, r.node,
        cast(sum(c.n) as bigint) as n,
        cast(sum(c.records) as bigint) as records,
        sum(cast(c.records as hugeint) * r.ncp) as ncp,
        sum(cast(c.records as hugeint) * r.glm) as glm,
        sum(cast(c.records as hugeint) * r.distortion) as distortion
    from counted_{{ a.number }} c
    join {{ a.recoding | ident }} r on r.code = c.code
    group by r.level, r.node
),
{% endfor %}
nodes as (
    {% for a in attributes %}
    select * from nodes_{{ a.number }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
masks(attribute, level{% for word in words %}, {{ word.m }}{% endfor %}) as (
    values
    {% for row in masks %}
    ({{ row | lits | join }}){% if not loop.last %},{% endif %}

    {% endfor %}
)
select
    k.attribute,
    k.level,
    count(n.node) as distinct_values,
    min(n.n) as smallest,
    cast(sum(n.ncp) as hugeint) as ncp,
    cast(sum(n.glm) as hugeint) as glm,
    cast(sum(n.distortion) as hugeint) as distortion,
    -- rounded, so that the order of summation does not matter
    cast(round(1000000 * coalesce(ln(sum(n.records)) - sum(n.records * ln(n.records)) / sum(n.records), 0)) as bigint) as entropy
    {% for word in words %}
    , cast(k.{{ word.m }} as bigint) as {{ word.m }}
    {% endfor %}
from masks k
left join nodes n on n.attribute = k.attribute and n.level = k.level
group by k.attribute, k.level{% for word in words %}, k.{{ word.m }}{% endfor %}

-- name: limits
-- How many rows may still be suppressed: the limit minus the rows already suppressed for their
-- NULLs.
create or replace table {{ limits | ident }} as
with counts as (
    select
        (select {{ count }} from {{ everything | ident }}) as all_units,
        (select {{ count }} from {{ coded | ident }}) as units,
        (select count(*) from {{ everything | ident }}) as records,
        (select count(*) from {{ coded | ident }}) as kept
)
select
    cast(floor({{ share }} * all_units) as bigint) - (all_units - units) as allowed,
    records - kept as left_out,
    records,
    units
from counts

-- name: cells
-- The published cells of every class at its levels, and its number in secret-keyed order. All
-- units of a class share one node per column (NULL and all values share the root), so any one unit
-- determines the cells.
create or replace table {{ cells | ident }} as
with classes as (
    select
        m.class_id,
        cast(sum(u.n) as bigint) as n,
        min(u.draw) as draw
        {% for a in attributes %}
        , min(u.{{ a.c }}) as {{ a.c }}
        {% endfor %}
    from {{ members | ident }} m
    join {{ units | ident }} u on u.unit = m.unit
    group by m.class_id
),
numbers as (
    select class_id, row_number() over (order by {{ class_draw }}, class_id) as number
    from classes
)
select
    b.class_id,
    o.number,
    b.n
    {% for name, expression in columns %}
    , {{ expression }} as {{ name }}
    {% endfor %}
from classes b
join numbers o on o.class_id = b.class_id
join {{ class_levels | ident }} v on v.class_id = b.class_id
-- every class has its cells, so left joins drop no row; they keep this join order, which saves the search for the best
{% for a in attributes %}
left join {{ a.recoding | ident }} {{ a.r }} on {{ a.r }}.code = b.{{ a.c }} and {{ a.r }}.level = v.{{ a.level }}
left join {{ a.shown | ident }} {{ a.s }} on {{ a.s }}.level = {{ a.r }}.level and {{ a.s }}.node = {{ a.r }}.node
{% endfor %}
