-- mondrian_population, population of open classes: The narrowed tuples become those that the next level starts from.
create or replace table anon_scratch.main.population_within as
select class_id, tuple from anon_scratch.main.population_narrowed
