-- mondrian_population, read the population: The population read once: its distinct quasi-identifiers, with how many members have them.
create or replace table anon_scratch.main.population as
select
    "age" as p1,
    cast("zip" as varchar) collate "binary" as p2,
count(*) as members
from "anon_source"."main"."people"
group by all
-- 1 branch as in the template, 722b5f0e
