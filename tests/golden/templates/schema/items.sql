-- several_tables, events of persons: What each person has: the different tuples of events, with the number of rows of each.
create or replace table anon_scratch.main.items as
select unit, person, tuple, count(*) as n
from anon_scratch.main.events
group by unit, person, tuple
