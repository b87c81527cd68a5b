-- mondrian_population, tuples of the population: The population's tuples as places in the domains of the table.
create or replace table anon_scratch.main.population_tuples as
select
    row_number() over () as tuple,
    p.members
    , p1.place as p1
    , p2.place as p2
    , p2.a1 as p2_1
    , p2.a2 as p2_2
    , p2.a3 as p2_3
    , p2.a4 as p2_4
    , p2.a5 as p2_5
from anon_scratch.main.population p
join anon_scratch.main.population_places_1 p1 on p1.value is not distinct from p.p1
join anon_scratch.main.population_places_2 p2 on p2.value is not distinct from p.p2
