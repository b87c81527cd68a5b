-- mondrian_parts_of_persons, population of a part: The tuples of the population that match a part.
with everyone as (
    select 1 as grp, unit from anon_scratch.main.units where unit between $first and $last
),
-- 9 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
        , list(distinct e.c2) as set2
        , count(distinct e.c2) filter (where e.c2 > 0) as size2
    from "everyone" g
    join anon_scratch.main.extents e on e.unit = g.unit
    -- 5 lines of mondrian/_population.sql.j2, 9b0a2085
    from extent x
)
select p.*
from boxes b
join anon_scratch.main.population_tuples p on true
-- 10 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
        when b.size2 > 1 and b.size2 = 8 then true
        else list_contains(b.set2, p.p2)
    end,
    false
)
