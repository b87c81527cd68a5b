-- name: classes
-- Classes of equal quasi-identifiers; NULLs are equal to each other.
create or replace table {{ classes | ident }} as
select cast(row_number() over () as integer) as class_id, *
from (
    select
        {{ quasi | join }},
        count(*) as n,
        {% if person %}count(distinct person){% else %}cast(null as bigint){% endif %} as persons
    -- named before they are grouped: a column of the source may be called q1
    from (
        select
            {% for value, name in keys %}
            {{ value }} as {{ name }},
            {% endfor %}
            {% if person %}{{ person }}{% else %}cast(null as integer){% endif %} as person
        from {{ relation }}
    )
    group by {{ quasi | join }}
)

-- name: members
-- The class of every row, with its sensitive values and its person.
create or replace table {{ members | ident }} as
with rows_read as (
    select
        {% for value, name in keys %}
        {{ value }} as {{ name }},
        {% endfor %}
        {% for value, name in carried %}
        {{ value }} as {{ name }},
        {% endfor %}
        {% if person %}{{ person }}{% else %}cast(null as integer){% endif %} as person
    from {{ relation }}
)
select c.class_id, r.person{% for value, name in carried %}, r.{{ name }}{% endfor %}

from rows_read r
join {{ classes | ident }} c
    on {% for name in quasi %}{% if not loop.first %} and {% endif %}r.{{ name }} is not distinct from c.{{ name }}{% endfor %}

-- name: sizes
-- Rows, persons and sizes of classes in one row.
select
    cast(coalesce(sum(n), 0) as bigint) as table_rows,
    {% if by_person %}
    (select count(distinct person) from {{ members | ident }}) as table_persons,
    (select count(*) from {{ members | ident }} where person is null) as without_person,
    {% else %}
    cast(null as bigint) as table_persons,
    cast(0 as bigint) as without_person,
    {% endif %}
    count(*) as classes,
    min(n) as k,
    {% if by_person %}
    min(persons) as person_k,
    {% else %}
    cast(null as bigint) as person_k,
    {% endif %}
    count(*) filter (where n = 1) as uniques,
    {% if by_person %}
    count(*) filter (where persons = 1) as unique_persons,
    {% else %}
    cast(null as bigint) as unique_persons,
    {% endif %}
    cast(coalesce(sum({{ unit }}), 0) as bigint) as units,
    cast(coalesce(sum({{ unit }}) filter (where {{ unit }} < {{ threshold | lit }}), 0) as bigint) as units_below,
    count(*) filter (where {{ unit }} < {{ threshold | lit }}) as classes_below,
    count(*) filter (where {{ unit }} > 0) as classes_held,
    max(n) as largest
from {{ classes | ident }}

-- name: size_bins
-- The number of classes of each size, and of units in them; sizes from 10 on are binned.
with sized as (
    select
        {{ unit }} as size,
        case
            when {{ unit }} < 5 then {{ unit }}
            when {{ unit }} < 10 then 5
            else cast(
                pow(10, floor(log10({{ unit }} + 0.5)))
                * case
                    when {{ unit }} >= 5 * pow(10, floor(log10({{ unit }} + 0.5))) then 5
                    when {{ unit }} >= 2 * pow(10, floor(log10({{ unit }} + 0.5))) then 2
                    else 1
                end as bigint)
        end as bin
    from {{ classes | ident }}
)
select bin, count(*), cast(sum(size) as bigint) from sized group by bin order by bin

-- name: worst
-- The sizes of the smallest classes, without values or anything else that identifies them.
select {{ unit }} as size, count(*) as classes, cast(sum(n) as bigint) as table_rows
from {{ classes | ident }}
group by {{ unit }}
order by {{ unit }}
limit {{ shown | lit }}

-- name: cells
-- How often every sensitive value occurs in every class; once per person if persons are counted.
create or replace table {{ cells | ident }} as
{% if by_person %}
select class_id, {{ value }} as value, cast(count(*) as bigint) as n
from (select distinct class_id, person, {{ value }} from {{ members | ident }})
{% else %}
select class_id, {{ value }} as value, cast(count(*) as bigint) as n
from {{ members | ident }}
{% endif %}
group by class_id, {{ value }}

-- name: figures
-- What one sensitive column achieves in the worst class by every rule, and counts of its values.
{% from "mondrian/_valid_cuts" import areas_of_runs with context %}
with layer_{{ p.index | lit }}_0 as (
    select c.class_id, c.n, r.*
    from {{ cells | ident }} c
    join {{ p.reference | ident }} r on r.original is not distinct from c.value
),
{% for layer in p.layers %}
layer_{{ p.index | lit }}_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ p.index | lit }}_{{ loop.index0 | lit }}
),
{% endfor %}
{% if p.runs %}
{{ areas_of_runs(p) }}
{% endif %}
achieved as (
    select
        sum(n) as total,
        count(*) filter (where value > 0) as different
        {% for name, figure, _ in figures %}
        , {{ figure }} as {{ name | ident }}
        {% endfor %}
    from {% if p.runs %}areas_{{ p.index | lit }}{% else %}layer_{{ p.index | lit }}_{{ p.layers | length | lit }}{% endif %}

    group by class_id
)
select
    {% for name, _, worst in figures %}
    {{ worst }}({{ name | ident }}) as {{ name | ident }},
    {% endfor %}
    (select max(m) from {{ p.reference | ident }}) as distinct_values,
    (select max(q_size - q_known) from {{ p.reference | ident }}) as nulls,
    (select max(q) / cast(nullif(max(q_known), 0) as double) from {{ p.reference | ident }} where value > 0) as commonest_share,
    count(*) filter (where different <= 1) as homogeneous_classes,
    cast(coalesce(sum(total) filter (where different <= 1), 0) as bigint) as homogeneous_units
from achieved
