-- hierarchy_conventional_double, hierarchy_1.grid_reals: A grid over the domain of a floating-point column, so that intervals end on grid points.
create or replace table anon_scratch.main.grid_1 as
with ends as (
    select
        cast(min(cast(value as double)) as double) as lowest,
        cast(max(cast(value as double)) as double) as highest,
        count(*) as distinct_values
    from anon_scratch.main.values_1
),

widths as (
    select
        *,
        highest - lowest as span,
        coalesce(NULL, (highest - lowest) / least(distinct_values, 65536)) as leaf
    from ends
    where lowest is not null
),

shaped as (
    select
        lowest as origin,
        highest as last,
        span,
        cast(
            pow(2, coalesce(greatest(0, least(20, floor(log2(nullif(span, 0) / leaf)))), 0))
            as bigint
        ) as points
    from widths
)

select origin, span / points as step, points, last
from shaped
-- hierarchy_divisor_independent, hierarchy_1.grid_reals: {% if shape == "halves" %} ... {% else %}
shaped as (
    select
        case when lowest >= 1 then cast(1 as double) else floor(lowest) end as origin,
        highest
    from widths
)

select
    origin,
    cast(1 as double) as step,
    cast(floor(highest) - origin + 1 as bigint) as points,
    floor(highest) + 1 as last
from shaped
-- hierarchy_cardinality_double, hierarchy_1.grid_reals: {% elif shape == "cells" %}
shaped as (
    select
        lowest as origin,
        highest as last,
        leaf,
        cast(least(greatest(1, coalesce(floor(span / nullif(leaf, 0)), 1)), 4e18) as bigint)
            as points
    from widths
)

select origin, leaf as step, points, last
from shaped
