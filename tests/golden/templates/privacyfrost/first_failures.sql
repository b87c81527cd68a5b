-- privacyfrost_suppressing, tables that fail: The tables that failed so that all finer ones do: those of the pre-computation.
create or replace table anon_scratch.main.search_failed as
select g.m0, g.m1
from anon_scratch.main.search_tables g
join anon_scratch.main.search_scored v on v.number = g.number
where v.decides
