-- name: climb
-- The remaining persons, grouped by their nodes at the levels reached so far.
-- source: Wang et al. 2018, §6.1.3
create or replace table {{ asked | ident }} as
with heights as (
    select {% for index, name in level_names %}count(*) filter (where attribute = {{ index }}) as {{ name }}{% if not loop.last %}, {% endif %}{% endfor %}

    from {{ column_order | ident }}
    where step <= (select n from {{ round | ident }})
)
select min(u.unit) over (partition by {{ keys | join }}) as grp, u.unit
from {{ units | ident }} u
cross join heights h
where u.unit not in (select unit from {{ members | ident }})

-- name: leave
-- The groups that satisfy all guarantees become classes.
{% from "persons/_passed" import passed with context %}
insert into {{ members | ident }}
select unit, grp from {{ asked | ident }} where grp in {{ passed() }}

-- name: leave_levels
-- The levels at which these classes are generalized.
{% from "persons/_passed" import passed with context %}
insert into {{ class_levels | ident }}
with heights as (
    select {% for index, name in level_names %}count(*) filter (where attribute = {{ index }}) as {{ name }}{% if not loop.last %}, {% endif %}{% endfor %}

    from {{ column_order | ident }}
    where step <= (select n from {{ round | ident }})
)
select p.grp, {% for index, name in level_names %}h.{{ name }}{% if not loop.last %}, {% endif %}{% endfor %}

from {{ passed() }} p
cross join heights h

-- name: next_round
-- One more level.
create or replace table {{ round | ident }} as
select n + 1 as n from {{ round | ident }}

-- name: column_order
-- The column that is generalized in each round: any that is not at its root, drawn from the secret.
-- source: Wang et al. 2018, §6.1.3
{#- How many columns up to the i-th are not at their roots. -#}
{% macro below(i) %}{% for j in range(1, i + 1) %}case when l{{ j | lit }} > 0 then 1 else 0 end{% if not loop.last %} + {% endif %}{% endfor %}{% endmacro %}
create or replace table {{ column_order | ident }} as
with recursive climbed(step, place, draw{% for a in attributes %}, l{{ loop.index | lit }}{% endfor %}) as (
    select cast(0 as bigint), cast(null as integer), {{ draw }}{% for a in attributes %}, {{ a.height | lit }}{% endfor %}

    from {{ units | ident }}
    union all
    select step + 1, place, draw{% for a in attributes %}, case when place = {{ loop.index | lit }} then l{{ loop.index | lit }} - 1 else l{{ loop.index | lit }} end{% endfor %}

    from (
        select
            *,
            case
                {% for a in attributes %}
                when l{{ loop.index | lit }} > 0 and {{ below(loop.index) }} = pick then {{ loop.index | lit }}
                {% endfor %}
            end as place
        from (
            select
                step, draw{% for a in attributes %}, l{{ loop.index | lit }}{% endfor %},
                -- the digest is 128 bits long: among so few columns none comes first noticeably more often
                1 + cast({{ next_draw }} % cast({{ below(attributes | length) }} as ubigint) as bigint) as pick
            from climbed
            where {{ below(attributes | length) }} > 0
        ) as drawn
    ) as chosen
)
select
    step,
    cast(case place{% for a in attributes %} when {{ loop.index | lit }} then {{ a.index | lit }}{% endfor %} end as bigint) as attribute
from climbed
where step > 0

-- name: first_round
-- The number of levels climbed so far.
create or replace table {{ round | ident }} as
select cast(0 as bigint) as n

-- name: more
-- Whether enough persons remain for a class and some column is not yet at its root.
select count(*)
from {{ round | ident }}
where n <= {{ steps | lit }}
    and (select count(*) from {{ units | ident }}) - (select count(*) from {{ members | ident }}) >= {{ least | lit }}

-- name: classes
-- The classes as boxes of nodes, which residual persons may join.
create or replace table {{ closed | ident }} as
with sizes as (
    select m.class_id, cast(sum(u.records) as bigint) as records
    from {{ members | ident }} m
    join {{ units | ident }} u on u.unit = m.unit
    group by m.class_id
),
boxes as (
    select
        0 as block, s.class_id as unit, s.records
        {% for name in copied %}, u.{{ name }}{% endfor %}
        {% for level, name in levels %}, v.{{ name }} as {{ level }}{% endfor %}

    from sizes s
    join {{ units | ident }} u on u.unit = s.class_id
    join {{ class_levels | ident }} v on v.class_id = s.class_id
)
select block, unit, records, cast({{ loss }} as bigint) as loss{% for column in columns %}, {{ column }}{% endfor %}

from boxes

-- name: left
-- The residual persons.
create or replace table {{ residual | ident }} as
select 0 as block, unit, 0 as round
from {{ units | ident }}
where unit not in (select unit from {{ members | ident }})

-- name: residual
-- The number of residual persons, whether or not they joined a class afterwards.
select count(*) as residual_persons from {{ residual | ident }}

-- name: class_levels
-- The levels of the classes after residual persons joined them.
create or replace table {{ class_levels | ident }} as
select unit as class_id{% for level, name in levels %}, {{ level }} as {{ name }}{% endfor %}

from {{ closed | ident }}

-- name: places
-- The nodes above every code of one attribute, and what they cost in whole numbers (GLM).
create or replace table {{ places | ident }} as
select
    code
    {% for level in levels %}
    , max(node) filter (where level = {{ level.number | lit }}) as {{ level.a }}
    , cast(max(glm) filter (where level = {{ level.number | lit }}) // {{ per | lit }} as bigint) as cost{{ level.number | lit }}
    {% endfor %}
from {{ recoding | ident }}
group by code
