-- privacyfrost_suppressing, the table found: The table that the search ended with, to be judged once more.
create or replace table anon_scratch.main.lattice_batch as
select cast(0 as bigint) as number, cast(0 as bigint) as guide, bit_or(v.m0) as m0, bit_or(v.m1) as m1
from anon_scratch.main.search_state s
join anon_scratch.main.search_depths v on v.attribute = s.attribute and v.depth = s.depth
