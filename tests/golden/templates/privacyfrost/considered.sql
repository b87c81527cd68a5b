-- privacyfrost_suppressing, tables considered: The tables of this step are recorded.
insert into anon_scratch.main.search_trail
select
    1, s.round + 1, j.node, s.phase, j.place
    , s.b1, j.d1
    , s.b2, j.d2
    , j.m0
    , j.m1
    , j.score, j.weight, false, j.better, j.holds, j.seen, j.broken, j.choice = 1 and j.better
from anon_scratch.main.search_ordered j
cross join anon_scratch.main.search_standing s
