-- mondrian_parts_of_persons, population of a part: The tuples of the population that match a part.
with everyone as (
    select 1 as grp, unit from anon_scratch.main.units where unit between $first and $last
),
extent as (
    select
        g.grp
        , min(e.c1) filter (where e.c1 > 0) as lo1
        , max(e.c1) filter (where e.c1 > 0) as hi1
        , bool_or(e.c1 = 0) as nil1
        , min(e.c2) filter (where e.c2 > 0) as lo2
        , max(e.c2) filter (where e.c2 > 0) as hi2
        , bool_or(e.c2 = 0) as nil2
        , list(distinct e.c2) as set2
        , count(distinct e.c2) filter (where e.c2 > 0) as size2
    from "everyone" g
    join anon_scratch.main.extents e on e.unit = g.unit
    group by g.grp
),
boxes as (
    select
        x.*
    from extent x
)
select p.*
from boxes b
join anon_scratch.main.population_tuples p on true
and coalesce(
    case
        when p.p1 = 0 then b.nil1
        else p.p1 between 2 * b.lo1 and 2 * b.hi1
    end,
    false
)
and coalesce(
    case
        when p.p2 = 0 then b.nil2
        when b.size2 > 1 and b.size2 = 8 then true
        else list_contains(b.set2, p.p2)
    end,
    false
)
