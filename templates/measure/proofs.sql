-- name: proved
-- How many complete records (one value per quasi-identifier) the release proves to exist, without
-- proving that k rows (persons) have them. Both ends of a tight interval occur in its class, and so
-- does each member of a set, and each value of a bucket whose rows are all in one class: with exact
-- cells besides, they are records.
-- parameters: columns: each with `number`, `column`, `tight` (ends and members occur), `nodes` (values
-- with the labels of their nodes); units: what k counts; group: of classes, if any
{% from "verify/_cells" import body, unquoted, members, value %}
{% macro key(c) %}key{{ c.number | lit }}{% endmacro %}
{% macro cell(c) %}cell{{ c.number | lit }}{% endmacro %}
{% macro nullable(c) %}nullable{{ c.number | lit }}{% endmacro %}
{% macro low(c) %}low{{ c.number | lit }}{% endmacro %}
{% macro high(c) %}high{{ c.number | lit }}{% endmacro %}
{% macro part(c, name) -%}
{% if c.column.bucket is none %}{{ name | ident }}{% else %}case when {{ c.column.bucket | ident }} is null then {{ name | ident }} end{% endif %}
{%- endmacro %}
{#- The keys of a record, one of them by the caller. -#}
{% macro keys(given) -%}
{% for c in columns %}, {% if c is sameas given %}{{ caller() }}{% else %}a.{{ key(c) }}{% endif %} as {{ key(c) }}{% endfor %}
{%- endmacro %}
{% macro end(x, side) %}regexp_extract({{ x }}, '^\[(.*), (.*)\]$', {{ side | lit }}){% endmacro %}
with classes as (
    select
        {% if group is not none %}{{ group | ident }}{% else %}cast(0 as bigint){% endif %} as grp
        {% for c in columns %}
        {% if c.column.bucket is not none %}
        , {{ c.column.bucket | ident }} is not null as apart{{ c.number | lit }}
        {% endif %}
        {% if c.column.lo is not none %}
        , {{ part(c, c.column.lo) }} as {{ low(c) }}, {{ part(c, c.column.hi) }} as {{ high(c) }}
        {% else %}
        , {{ part(c, c.column.name) }} as {{ cell(c) }}
        {% endif %}
        {% if c.column.nullable is not none %}
        , {{ part(c, c.column.nullable) }} as {{ nullable(c) }}
        {% endif %}
        {% endfor %}
        , {{ units }} as units
    from {{ data | ident }}
    group by all
),
bodies as (
    select
        grp, units
        {% for c in columns %}
        {% if c.column.bucket is not none %}
        , apart{{ c.number | lit }}
        {% endif %}
        {% if c.column.lo is not none %}
        , {{ low(c) }}, {{ high(c) }}, coalesce({{ nullable(c) }}, false) as {{ nullable(c) }}
        {% elif c.column.list_cells %}
        , {{ cell(c) }}
        {% elif c.column.nullable is not none %}
        , {{ cell(c) }}, coalesce({{ nullable(c) }}, false) as {{ nullable(c) }}
        {% else %}
        , {{ body(cell(c)) }} as {{ cell(c) }}, coalesce(ends_with({{ cell(c) }}, ' or NULL'), false) as {{ nullable(c) }}
        {% endif %}
        {% endfor %}
    from classes
),
{% for c in columns if c.nodes is not none %}
several{{ c.number | lit }} as (
    select label from {{ c.nodes | ident }} group by label having count(distinct value) > 1
),
{% endfor %}
exact as (
    select
        b.*
        {% for c in columns %}
        {% set shown %}b.{{ cell(c) }}{% endset %}
        , case
            {% if c.column.bucket is not none %}
            when b.apart{{ c.number | lit }} then null
            {% endif %}
            {% if c.column.lo is not none %}
            when b.{{ low(c) }} is null then 'n'
            when b.{{ nullable(c) }} or b.{{ low(c) }} <> b.{{ high(c) }} then null
            else 'v' || cast(b.{{ low(c) }} as varchar)
            {% elif c.column.list_cells %}
            when len(b.{{ cell(c) }}) > 1 then null
            when {{ shown }}[1] is null then 'n'
            else 'v' || cast({{ shown }}[1] as varchar)
            {% else %}
            when b.{{ cell(c) }} is null then 'n'
            when b.{{ nullable(c) }} or b.{{ cell(c) }} = '*' or left(b.{{ cell(c) }}, 1) = {% if c.column.kind == "categorical" %}'{'{% else %}'['{% endif %} then null
            {% if c.nodes is not none %}
            when n{{ c.number | lit }}.label is not null then null
            {% endif %}
            else 'v' || {{ unquoted(shown) }}
            {% endif %}
        end as {{ key(c) }}
        {% endfor %}
    from bodies b
    {% for c in columns if c.nodes is not none %}
    {% set shown %}b.{{ cell(c) }}{% endset %}
    left join several{{ c.number | lit }} n{{ c.number | lit }} on n{{ c.number | lit }}.label = {% if c.quoted %}{{ shown }}{% else %}{{ unquoted(shown) }}{% endif %}

    {% endfor %}
),
counted as materialized (
    select *, {% for c in columns %}case when {{ key(c) }} is null then 1 else 0 end{% if not loop.last %} + {% endif %}{% endfor %} as open from exact
),
{% for c in columns if c.tight and not c.column.list_cells and c.column.lo is none and c.column.kind == "categorical" %}
members{{ c.number | lit }} as (
    select m.{{ cell(c) }}, v.value
    from (select distinct {{ cell(c) }} from counted where left({{ cell(c) }}, 1) = '{') m, unnest({{ members(cell(c)) }}) as v(value)
),
every{{ c.number | lit }} as (
    select value from members{{ c.number | lit }}
    union
    select {{ unquoted(cell(c)) }} from counted where {{ cell(c) }} <> '*' and left({{ cell(c) }}, 1) <> '{'
    {% if c.column.bucket is not none %}
    union
    select cast({{ value(c.column, c.type) }} as varchar) from {{ data | ident }} where {{ c.column.bucket | ident }} is not null and {{ value(c.column, c.type) }} is not null
    {% endif %}
),
{% endfor %}
{% for c in columns if c.pairs %}
-- what shows two values, which both occur to a reader who takes it for the smallest possible
values{{ c.number | lit }} as (
    {% if c.nodes is not none %}
    select distinct label, cast(value as varchar) as value from {{ c.nodes | ident }} where label <> '*'
    union
    select '*', cast(value as varchar) from {{ c.nodes | ident }}
    {% else %}
    select distinct '*' as label, {{ unquoted(cell(c)) }} as value from counted where {{ cell(c) }} <> '*'
    {% endif %}
),
pairs{{ c.number | lit }} as (
    select label, value
    from values{{ c.number | lit }}
    where label in (select label from values{{ c.number | lit }} group by label having count(*) = 2)
),
{% endfor %}
ends as (select 1 as side union all select 2 union all select 3),
records as (
    select grp{% for c in columns %}, {{ key(c) }}{% endfor %}, units from counted where open = 0
    {% for c in columns if c.tight %}
    {% set alone %}a.open = 1 and a.{{ key(c) }} is null{% if c.column.bucket is not none %} and not a.apart{{ c.number | lit }}{% endif %}{% endset %}
    {% set shown %}a.{{ cell(c) }}{% endset %}
    union
    select a.grp
    {%- if c.column.lo is not none %}
    {%- call keys(c) %}case e.side when 1 then 'v' || cast(a.{{ low(c) }} as varchar) when 2 then 'v' || cast(a.{{ high(c) }} as varchar) else 'n' end{% endcall %}, 1
    from counted a
    join ends e on e.side < 3 or a.{{ nullable(c) }}
    where {{ alone }}
    {% elif c.column.list_cells %}
    {%- call keys(c) %}case when v.value is null then 'n' else 'v' || cast(v.value as varchar) end{% endcall %}, 1
    from counted a, unnest({{ shown }}) as v(value)
    where {{ alone }}
    {% elif c.column.kind == "categorical" %}
    {%- call keys(c) %}case when e.side = 3 then 'n' else 'v' || coalesce(m.value, w.value, {{ unquoted(shown) }}) end{% endcall %}, 1
    from counted a
    join ends e on e.side = 1 or (e.side = 3 and a.{{ nullable(c) }})
    left join members{{ c.number | lit }} m on m.{{ cell(c) }} = {{ shown }}
    left join every{{ c.number | lit }} w on {{ shown }} = '*'
    where {{ alone }} and (e.side = 3 or {{ shown }} <> '*' or w.value is not null)
    {% else %}
    {%- call keys(c) %}case when e.side = 3 then 'n' when left({{ shown }}, 1) <> '[' then 'v' || {{ shown }} when e.side = 1 then 'v' || {{ end(shown, 1) }} else 'v' || {{ end(shown, 2) }} end{% endcall %}, 1
    from counted a
    join ends e on e.side < 3 or a.{{ nullable(c) }}
    where {{ alone }}
    {% endif %}
    {% endfor %}
    {% for c in columns if c.pairs %}
    {% set shown %}a.{{ cell(c) }}{% endset %}
    union
    select a.grp
    {%- call keys(c) %}'v' || p.value{% endcall %}, 1
    from counted a
    join pairs{{ c.number | lit }} p on p.label = {% if c.quoted or c.nodes is none %}{{ shown }}{% else %}{{ unquoted(shown) }}{% endif %}

    where a.open = 1 and a.{{ key(c) }} is null{% if c.column.bucket is not none %} and not a.apart{{ c.number | lit }}{% endif %}

    {% endfor %}
    {% for c in columns if c.column.bucket is not none %}
    union
    select a.grp
    {%- call keys(c) %}case when d.value is null then 'n' else 'v' || cast(d.value as varchar) end{% endcall %}, 1
    from counted a
    join (
        select {{ group | ident }} as grp, {{ c.column.bucket | ident }} as bucket, {{ value(c.column, c.type) }} as value
        from {{ data | ident }}
        where {{ c.column.bucket | ident }} is not null
    ) d on d.grp = a.grp
    join (
        select {{ c.column.bucket | ident }} as bucket
        from {{ data | ident }}
        where {{ c.column.bucket | ident }} is not null
        group by 1
        having count(distinct {{ group | ident }}) = 1
    ) o on o.bucket = d.bucket
    where a.open = 1 and a.apart{{ c.number | lit }}
    {% endfor %}
)
select count(*)
from (
    select sum(units) as units
    from records
    group by {% for c in columns %}{{ key(c) }}{% if not loop.last %}, {% endif %}{% endfor %}

) r
where units < {{ k | lit }}
