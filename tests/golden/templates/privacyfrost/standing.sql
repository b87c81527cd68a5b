-- privacyfrost_suppressing, best table so far: Where the search stands, and the best table: at first that of the pre-computation.
create or replace table anon_scratch.main.search_standing as
select 0 as round, 'top-down' as phase, d1 as b1, d1, d2 as b2, d2, score, weight, false as spare
from anon_scratch.main.search_start
where chosen
