-- lgb_persons, cells that share a bucket: How many cells still share a bucket with another cell of their person, while rounds are left.
select coalesce(sum(n - 1), 0)
from (select count(*) as n from anon_scratch.main.owned_1 group by bucket, person having count(*) > 1)
where (select n from anon_scratch.main.swap_turn_1) < 200
