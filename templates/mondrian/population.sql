-- name: _population
-- What groups of units would publish, and which tuples of the population match it. Cells as in the
-- release: the extent of ordered values, the set of values, the lowest common node; `*` admits
-- every value. A value outside of the domain is not in the hierarchy: any node may admit it.
{% macro boxes(groups) %}
extent as (
    select
        g.grp
        {% for one in ranks %}
        , min(e.{{ one.c }}) filter (where e.{{ one.c }} > 0) as lo{{ one.index | lit }}
        , max(e.{{ one.c }}) filter (where e.{{ one.c }} > 0) as hi{{ one.index | lit }}
        , bool_or(e.{{ one.c }} = 0) as nil{{ one.index | lit }}
        {% if one.shape == "set" %}
        , list(distinct e.{{ one.c }}) as set{{ one.index | lit }}
        , count(distinct e.{{ one.c }}) filter (where e.{{ one.c }} > 0) as size{{ one.index | lit }}
        {% endif %}
        {% endfor %}
    from {{ groups }} g
    join {{ extents | ident }} e on e.unit = g.unit
    group by g.grp
),
boxes as (
    select
        x.*
        {% for one in ranks %}
        {% if one.shape == "node" %}
        , coalesce(case
            when lo{{ one.index | lit }} = hi{{ one.index | lit }} then 0
            when lo{{ one.index | lit }} = 1 and hi{{ one.index | lit }} = {{ one.distinct | lit }} then {{ one.height | lit }}
            {% for level in one.levels %}
            when low{{ one.index | lit }}.{{ level.a }} = high{{ one.index | lit }}.{{ level.a }} then {{ level.number | lit }}
            {% endfor %}
            else {{ one.height | lit }}
        end, 0) as level{{ one.index | lit }}
        {% for level in one.levels %}
        , low{{ one.index | lit }}.{{ level.a }} as node{{ one.index | lit }}_{{ level.number | lit }}
        {% endfor %}
        {% endif %}
        {% endfor %}
    from extent x
    {% for one in ranks %}
    {% if one.shape == "node" %}
    left join {{ one.domain | ident }} low{{ one.index | lit }} on low{{ one.index | lit }}.code = x.lo{{ one.index | lit }}
    left join {{ one.domain | ident }} high{{ one.index | lit }} on high{{ one.index | lit }}.code = x.hi{{ one.index | lit }}
    {% endif %}
    {% endfor %}
)
{%- endmacro %}
{% macro admits() %}
true
{% for one in ranks %}
{% set i = one.index | lit %}
and coalesce(
    case
        when p.p{{ i }} = 0 then b.nil{{ i }}
        {% if one.shape == "range" %}
        else p.p{{ i }} between 2 * b.lo{{ i }} and 2 * b.hi{{ i }}
        {% elif one.shape == "set" %}
        {% if not typed %}
        when b.size{{ i }} > 1 and b.size{{ i }} = {{ one.distinct | lit }} then true
        {% endif %}
        else list_contains(b.set{{ i }}, p.p{{ i }})
        {% else %}
        when b.lo{{ i }} is null then false
        when b.level{{ i }} = 0 then p.p{{ i }} = b.lo{{ i }}
        when b.level{{ i }} = {{ one.height | lit }} or p.p{{ i }} = -2 then true
        {% for level in one.levels %}
        when b.level{{ i }} = {{ level.number | lit }} then p.p{{ i }}_{{ level.number | lit }} = b.node{{ i }}_{{ level.number | lit }}
        {% endfor %}
        {% endif %}
    end,
    false
)
{% endfor %}
{% endmacro %}
{% macro surely() %}
true
{%- for one in ranks %}
{% if one.shape == "node" %}
 and (p.p{{ one.index | lit }} <> -2 or b.level{{ one.index | lit }} = {{ one.height | lit }})
{%- endif %}
{% endfor %}
{% endmacro %}

-- name: population_whole
-- The whole table as one class, if it breaks the population models. Cutting only loses matching
-- members of the population, so what fails here fails in every partition.
{% from "mondrian/_population" import boxes, admits, surely with context %}
with everyone as (select 1 as grp, unit from {{ units | ident }}),
{{ boxes("everyone" | ident) }},
matched as (
    select
        (select cast(sum(n) as bigint) from {{ units | ident }}) as n,
        cast(coalesce(sum(p.members) filter (where {{ surely() }}), 0) as bigint) as sure,
        cast(coalesce(sum(p.members), 0) as bigint) as possible
    from boxes b
    join {{ tuples | ident }} p on {{ admits() }}
),
totals as (
    select m.*, (select cast(coalesce(sum(members), 0) as bigint) from {{ tuples | ident }}) as members
    from matched m
)
select n, sure, members
from totals
where not ({{ holds }}{% if all_matched %} and sure = members{% endif %})

-- name: population_first
-- The whole table as one class, and the tuples of the population that match it.
{% from "mondrian/_population" import boxes, admits with context %}
create or replace table {{ within | ident }} as
with everyone as (select 1 as grp, unit from {{ units | ident }}),
{{ boxes("everyone" | ident) }}
select {{ first_class }} as class_id, p.tuple
from boxes b
join {{ tuples | ident }} p on {{ admits() }}

-- name: population_judge
-- The cuts whose halves both satisfy the population models.
{% from "mondrian/_population" import boxes, admits, surely with context %}
create or replace table {{ compared | ident }} as
with {{ boxes(asked | ident) }},
sizes as (
    select a.grp, cast(sum(u.n) as bigint) as n
    from {{ asked | ident }} a
    join {{ units | ident }} u on u.unit = a.unit
    group by a.grp
),
pairs as materialized (
    select b.grp, t.offer, p.tuple, p.members, {{ surely() }} as sure
    from boxes b
    join {{ offered | ident }} t on t.offer = cast(floor(b.grp / 2) as bigint)
    join {{ within | ident }} w on w.class_id = t.class_id
    join {{ tuples | ident }} p on p.tuple = w.tuple and {{ admits() }}
),
matches as (
    select
        s.grp,
        s.n,
        cast(coalesce(sum(x.members) filter (where x.sure), 0) as bigint) as sure,
        cast(coalesce(sum(x.members), 0) as bigint) as possible
    from sizes s
    left join pairs x on x.grp = s.grp
    group by s.grp, s.n
)
{% if all_matched %},
kept as (
    select offer, count(distinct tuple) as tuples from pairs where sure group by offer
),
had as (
    select t.offer, count(*) as tuples
    from {{ offered | ident }} t
    join {{ within | ident }} w on w.class_id = t.class_id
    where t.offer in (select cast(floor(grp / 2) as bigint) from sizes)
    group by t.offer
)
{% endif %}

select cast(floor(m.grp / 2) as bigint) as offer, bool_and({{ holds }}{% if all_matched %} and coalesce(k.tuples = h.tuples, false){% endif %}) as holds
from matches m
{% if all_matched %}
left join kept k on k.offer = cast(floor(m.grp / 2) as bigint)
left join had h on h.offer = cast(floor(m.grp / 2) as bigint)
{% endif %}
group by 1

-- name: population_within
-- The tuples of the population that match a class after its cut: some of those that matched before.
{% from "mondrian/_population" import boxes, admits with context %}
create or replace table {{ narrowed | ident }} as
with halves as (select class_id as grp, unit from {{ open | ident }} where not closed),
{{ boxes("halves" | ident) }},
parents as (
    select class_id as parent, class_id as grp from {{ chosen | ident }}
    union all
    select class_id, class_id + units_left from {{ chosen | ident }}
)
select b.grp as class_id, p.tuple
from boxes b
join parents c on c.grp = b.grp
join {{ within | ident }} w on w.class_id = c.parent
join {{ tuples | ident }} p on p.tuple = w.tuple and {{ admits() }}

-- name: population_moved
-- The narrowed tuples become those that the next level starts from.
create or replace table {{ within | ident }} as
select class_id, tuple from {{ narrowed | ident }}
