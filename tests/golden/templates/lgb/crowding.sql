-- lgb_promoted_persons, persons with too many cells in age: Persons with more sensitive cells in a column than the column can have buckets.
with of_persons as (
    select person, count(*) as n
    from anon_scratch.main.coded
    where r1 is not null
    group by person
)
select count(*) filter (where n > floor(total / 2)), cast(max(n) as bigint), cast(max(total) as bigint)
from (select n, sum(n) over () as total from of_persons)
having count(*) filter (where n > floor(total / 2)) > 0
