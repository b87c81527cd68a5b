-- lgb_ncp, rows under their patterns: Every row with its final pattern: the code of a sensitive cell moves from the quasi-identifiers to a column of its own.
create or replace table anon_scratch.main.coded as
-- 5 lines of the template, 41faa8f4
    , r.c1
    , r.c2
    , case when (p.target // 1) % 2 = 1 then -1 else r.c3 end as c3
    , case when (p.target // 1) % 2 = 1 then r.c3 end as r3
    , r.s1
from anon_scratch.main.coded r
join anon_scratch.main.patterns p on p.pattern = r.pattern
where p.target is not null
