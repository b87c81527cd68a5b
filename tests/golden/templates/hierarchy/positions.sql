-- full_domain_ncp, hierarchy_1.positions: Where each value lies on the grid, counted from 0.
create or replace table anon_scratch.main.positions_1 as
select v.value, v.n, cast(cast(value as hugeint) - g.origin as bigint) as position
from anon_scratch.main.values_1 as v
cross join anon_scratch.main.grid_1 as g
-- hierarchy_conventional_double, hierarchy_1.positions: {% if real %}
with guessed as (
    select
        v.value,
        v.n,
        cast(value as double) as exact_at,
        g.*,
        coalesce(
            greatest(0, least(g.points - 1, floor((cast(value as double) - g.origin) / nullif(g.step, 0)))),
            0
        ) as guess
    from anon_scratch.main.values_1 as v
    cross join anon_scratch.main.grid_1 as g
)

select
    value,
    n,
    -- a quotient can round across a grid point; the bounds themselves decide
    cast(
        case
            when guess > 0 and origin + guess * step > exact_at then guess - 1
            when guess + 1 < points and origin + (guess + 1) * step <= exact_at then guess + 1
            else guess
        end as bigint
    ) as position
from guessed
