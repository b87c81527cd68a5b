-- lgb_ncp, close classes: Classes too small to divide, or not divided at the last attempt, are final.
insert into anon_scratch.main.members
select o.unit, o.class_id
from anon_scratch.main.open_units o
where o.class_id not in (select class_id from anon_scratch.main.seeds)
    or (o.attempt >= 0 and o.class_id not in (select class_id from anon_scratch.main.sides))
