-- lgb_persons, owners of ill: The assigned cells of one column with their persons, numbered for random choices.
create or replace table anon_scratch.main.owned_1 as
select p.*, r.person, row_number() over (order by md5_number(concat(hex(p.draw), ':seat')), p.row_id) as seat
from anon_scratch.main.placed_1 p
join anon_scratch.main.coded r on r.row_id = p.row_id
