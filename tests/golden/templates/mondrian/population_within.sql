-- mondrian_population, population of the halves: The tuples of the population that match a class after its cut: some of those that matched before.
create or replace table anon_scratch.main.population_narrowed as
with halves as (select class_id as grp, unit from anon_scratch.main.open_units where not closed),
-- 9 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
    from "halves" g
    join anon_scratch.main.units e on e.unit = g.unit
    -- 5 lines of mondrian/_population.sql.j2, 9b0a2085
        -- 19 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
parents as (
    select class_id as parent, class_id as grp from anon_scratch.main.chosen_cuts
    union all
    select class_id, class_id + units_left from anon_scratch.main.chosen_cuts
-- 4 lines of the template, c7655e65
join anon_scratch.main.population_within w on w.class_id = c.parent
join anon_scratch.main.population_tuples p on p.tuple = w.tuple and true
-- 21 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
