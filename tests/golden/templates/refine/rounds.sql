-- mondrian_tree_distance, rounds of swaps: One more round of swaps, and what it saved.
create or replace table anon_scratch.main.refine_rounds as
select r.number + 1 as number, s.swaps, r.saved + s.saved as saved, r.lost
from anon_scratch.main.refine_rounds r
cross join (select count(*) as swaps, cast(coalesce(sum(gain), 0) as bigint) as saved from anon_scratch.main.refine_swaps) s
