-- full_domain_ncp, hierarchy_1.divide: Divisor hierarchy: the interval of each value at every width, and the root above them.
create or replace table anon_scratch.main.intervals_1 as
with levels as (
    select w.width, row_number() over (order by w.width) as level
    from anon_scratch.main.widths_1 as w
    cross join anon_scratch.main.grid_1 as g
    where w.width < g.points
),

rooted as (
    select width, level
    from levels
    union all
    -- the narrowest width that holds the whole domain, else the domain itself
    select
        coalesce(
            (select min(w.width) from anon_scratch.main.widths_1 as w where w.width >= g.points), g.points
        ),
        (select count(*) + 1 from levels)
    from anon_scratch.main.grid_1 as g
)

select
    p.value,
    cast(r.level as integer) as level,
    p.position - p.position % r.width as first,
    p.position - p.position % r.width + r.width as past
from anon_scratch.main.positions_1 as p
cross join rooted as r
