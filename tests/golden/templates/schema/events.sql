-- several_tables_everybody_reserved, rows of events: The rows of all tables with events, each with its person and tuple.
create or replace table anon_scratch.main.events as
select
    1 as source, e.row_ref, e.above, o.person, o.unit, t.tuple, e.draw
from anon_scratch.main.coded_1 e
join anon_scratch.main.owners o on o.owner = e.owner
join anon_scratch.main.rungs_1 t on t.step = 0 and t.c100001 = e.c100001 and t.c100002 = e.c100002
union all
select
    2 as source, e.row_ref, e.above, o.person, o.unit, t.tuple, e.draw
from anon_scratch.main.coded_2 e
join anon_scratch.main.owners o on o.owner = e.owner
join anon_scratch.main.rungs_2 t on t.step = 0 and t.c200001 = e.c200001
