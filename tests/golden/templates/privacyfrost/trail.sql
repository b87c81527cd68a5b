-- privacyfrost_suppressing, tables of the start: The record of the search begins with the pre-computation.
create or replace table anon_scratch.main.search_trail as
select 1 as kind, 0 as round, place as node, phase, place, d1 as b1, d1, d2 as b2, d2, m0, m1, score, weight, false as spare, true as better, holds, seen, broken, chosen as taken
from anon_scratch.main.search_start
