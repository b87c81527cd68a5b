-- privacyfrost_suppressing, more tables that fail: The tables of this step that failed so that all finer ones do.
insert into anon_scratch.main.search_failed
select g.m0, g.m1
from anon_scratch.main.search_tables g
join anon_scratch.main.search_scored v on v.number = g.number
where v.decides
