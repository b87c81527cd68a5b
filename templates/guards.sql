-- name: codes
-- Columns that have more values than were counted for the plan, or NULLs where none were counted, by
-- number, and how many.
with nulls as (
    select {% for number, column in never_null %}count(*) - count({{ column }}) as n{{ number | lit }}, {% endfor %}count(*) as n from {{ snapshot | ident }}
)
{% for domain in domains %}
{% set most = counted[loop.index0] %}
select {{ loop.index | lit }} as number, false as is_null, max(code) - {{ most | lit }} as n from {{ domain | ident }} having max(code) > {{ most | lit }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
{% for number, _ in never_null %}
union all
select {{ number | lit }}, true, n{{ number | lit }} from nulls where n{{ number | lit }} > 0
{% endfor %}

-- name: differing_persons
-- Persons whose rows differ in their quasi-identifiers.
select count(*) as persons
from (
    select person
    from {{ coded | ident }}
    group by person
    having {% for code in codes %}min({{ code }}) <> max({{ code }}){% if not loop.last %} or {% endif %}{% endfor %}

)
having count(*) > 0

-- name: counts
-- Counts of the source that make a run impossible, each under its number.
with counted as (
    select {% for number, expression in counts %}{{ expression }} as {{ number }}{% if not loop.last %}, {% endif %}{% endfor %}

    from {{ snapshot | ident }}
)
{% for number, expression in counts %}
select {{ loop.index | lit }} as number, cast({{ number }} as bigint) as n from counted where {{ number }} > 0
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: too_few
-- The table has fewer units (rows, or persons) than one class needs.
select {{ count }} as units from {{ coded | ident }} having {{ count }} < {{ least | lit }}

-- name: rule
-- Whether the whole table as one class breaks a rule of a sensitive column, as then every partition does.
with layer_0 as (
    select *, q as n from {{ reference | ident }}
),
{% for layer in layers %}
layer_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ loop.index0 | lit }}
),
{% endfor %}
verdicts as (
    select
        {{ holds }} as holds,
        cast(count(*) filter (where value > 0) as bigint) as different,
        cast(coalesce(max(n) filter (where value > 0), 0) as bigint) as most,
        cast(coalesce(sum(n) filter (where value > 0), 0) as bigint) as known
    from layer_{{ layers | length | lit }}
)
select different, most, known from verdicts where not holds
