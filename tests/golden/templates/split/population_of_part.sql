-- mondrian_parts_of_persons, population of a part: The tuples of the population that match a part.
with everyone as (
    select 1 as grp, unit from anon_scratch.main.units where unit between $first and $last
-- 12 lines as in templates/split/population_verdicts.sql, mondrian_parts_of_persons, nodes in the population
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
