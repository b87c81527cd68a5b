-- full_domain_ncp, hierarchy_1.bounds: Intervals of grid points as bounds in the column's type.
create or replace table anon_scratch.main.bounds_1 as
select
    value,
    level,
    first as place,
    cast(least(greatest(first_at, cast('-2147483648' as hugeint)), cast('2147483647' as hugeint)) as INTEGER) as lo,
    cast(least(greatest((past_at - 1), cast('-2147483648' as hugeint)), cast('2147483647' as hugeint)) as INTEGER) as hi,
    cast(null as varchar) as label
from (
    select
        i.value,
        i.level,
        i.first,
        g.origin + i.first * g.step as first_at,
        g.origin + i.past * g.step as past_at
    from anon_scratch.main.intervals_1 as i
    cross join anon_scratch.main.grid_1 as g
) as placed
case when i.past = g.points then g.last else g.origin + i.past * g.step end as past_at  -- hierarchy_conventional_double, hierarchy_1.bounds: {% if real %}
