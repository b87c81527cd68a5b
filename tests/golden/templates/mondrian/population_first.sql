-- mondrian_population, population of the first class: The whole table as one class, and the tuples of the population that match it.
create or replace table anon_scratch.main.population_within as
-- 12 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
    -- 5 lines of mondrian/_population.sql.j2, 9b0a2085
        -- 18 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
)
select 1 as class_id, p.tuple
from boxes b
join anon_scratch.main.population_tuples p on true
-- 21 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
