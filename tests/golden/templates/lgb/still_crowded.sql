-- lgb_persons, persons apart in ill: The number of cells that share a bucket with another cell of their person.
select cast(sum(n - 1) as bigint)
from (select count(*) as n from anon_scratch.main.owned_1 group by bucket, person having count(*) > 1)
having count(*) > 0
