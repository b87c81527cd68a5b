-- name: reference
-- The values of one sensitive column among the rows that are published, in their own order.
create or replace table {{ reference | ident }} as
with counts as (
    select {{ column }} as original, {{ count }} as q
    from {{ coded | ident }} r
    group by 1
),
{% if levels %}
ancestors as (
    select
        value
        {% for level in levels %}
        , max(node) filter (where level = {{ level.number | lit }}) as {{ level.a }}
        {% endfor %}
    from {{ hierarchy | ident }}
    group by value
),
{% endif %}
ordered as (
    select
        c.original,
        c.q,
        case when c.original is null then 0 else row_number() over (
            partition by c.original is null
            order by c.original
        ) end as value
        {% for level in levels %}
        , coalesce(h.{{ level.a }}, 0) as {{ level.a }}
        {% endfor %}
    from counts c
    {% if levels %}
    left join ancestors h on h.value = c.original
    {% endif %}
){% if runs %},
placed as (
    select
        *,
        row_number() over (order by value) as place,
        cast(sum(q) over (order by value rows unbounded preceding) as bigint) as upto
    from ordered
){% endif %}

select
    cast(value as integer) as value,
    original,
    cast(q as bigint) as q,
    cast(coalesce(sum(q) filter (where value > 0) over (), 0) as bigint) as q_known,
    cast(sum(q) over () as bigint) as q_size,
    cast(count(*) filter (where value > 0) over () as integer) as m
    {% for level in levels %}
    , {{ level.a }}
    {% endfor %}
    {% if runs %}
    , place, upto, cast(sum(upto) over (order by place rows unbounded preceding) as bigint) as area
    {% endif %}
from {% if runs %}placed{% else %}ordered{% endif %}

-- name: sensitive_cells
-- How often each unit has each value of one sensitive column.
create or replace table {{ cells | ident }} as
select u.unit, f.value, {{ count }} as n
from {{ coded | ident }} r
join {{ units | ident }} u on {% for key in keys %}u.{{ key }} = r.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}

join {{ reference | ident }} f on f.original is not distinct from r.{{ column }}
group by u.unit, f.value

-- name: thinned
-- The rows without those that make a value too frequent: as few as possible, chosen by draw; all
-- rows, if that would leave fewer than may be left. Where a value keeps at most c rows, as many
-- remain as have a place up to c. What holds for c holds for every smaller c as well.
-- parameters: limited, counts: rows whose value is limited, and rows whose value counts; None: all
create or replace table {{ coded | ident }} as
with placed as (
    select
        row_ref,
        {% if limited %}case when {{ limited }} then {% endif %}row_number() over (partition by {{ column }} order by draw){% if limited %} else 0 end{% endif %} as place
    from {{ coded | ident }}
    {% if counts %}
    where {{ counts }}
    {% endif %}
),
counted as (
    select row_ref, place, count(*) over (order by place) as remaining
    from placed
),
beyond as (
    select row_ref
    from counted
    where place > 0 and not ({{ holds }})
)
select r.*
from {{ coded | ident }} r
where not exists (select 1 from beyond b where b.row_ref = r.row_ref)
    or (select count(*) from {{ coded | ident }}) - (select count(*) from beyond) < {{ least | lit }}
