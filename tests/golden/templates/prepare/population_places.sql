-- mondrian_population, population in the domain of age: The positions of the population's values of one column in the domain of the table.
create or replace table anon_scratch.main.population_places_1 as
with members as (
    select distinct p1 as value from anon_scratch.main.population
),
known as (
    select * from anon_scratch.main.domain_1 where code > 0
)
select
    m.value,
    case when m.value is null then 0 when k.code is null then 1 when m.value = k.value then 2 * k.code else 2 * k.code + 1 end as place
from members m
asof left join known k on m.value >= k.value
-- 3 branches as in the template, fd67e8e1
