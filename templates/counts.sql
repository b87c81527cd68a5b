-- name: readable
-- Of text columns: whether every value is a figure, empty, or the mark of a hidden one.
select
    {% for column in columns %}
    coalesce(bool_and(
        try_cast({{ column }} as double) is not null or trim({{ column }}) = {{ mark | lit }}
    ) filter (where {{ column }} is not null), false){% if not loop.last %}, {% endif %}

    {% endfor %}
from {{ relation }}

-- name: cells
-- The cells of a published table: labels and levels as text, and the figure, NULL where it is
-- hidden. A row of what was left out is no cell.
create or replace table {{ cells | ident }} as
select
    * exclude (value, hidden),
    hidden,
    case when not hidden then try_cast(value as double) end as figure
from (
    select
        * exclude (status),
        -- frames and text files write what is missing as NaN
        value is null
        or coalesce(isnan(try_cast(value as double)), false)
        or coalesce(trim(cast(value as varchar)) = {{ mark | lit }}, false)
        or coalesce(try_cast(value as double) = try_cast({{ mark | lit }} as double), false) as hidden
    -- named before they are compared: a column of the source may be called value
    from (
        select
            {% for column, name in keys %}
            cast({{ column }} as varchar) as {{ name }},
            {% endfor %}
            {{ measure }} as value,
            {% if status %}cast({{ status }} as varchar){% else %}cast(null as varchar){% endif %} as status
        from {{ relation }}
    )
    where status is distinct from 'other'
)

-- name: faults
-- Rows, and figures that are no counts: not a number, negative, fractional, too large, and not
-- a multiple of the base of rounding.
select
    count(*),
    count(*) filter (where not hidden and (figure is null or isinf(figure))),
    count(*) filter (where figure < 0),
    count(*) filter (where figure <> floor(figure)),
    count(*) filter (where figure > {{ most | lit }} and not isinf(figure)),
    count(*) filter (where figure <> {{ base | lit }} * round(figure / {{ base | lit }}))
from {{ cells | ident }}

-- name: figures
-- All cells in a fixed order, so that the result does not depend on that of the rows.
select {{ names | join }}, figure
from {{ cells | ident }}
order by {{ names | join }}
