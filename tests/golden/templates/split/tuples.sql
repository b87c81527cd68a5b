-- mondrian_parts, distinct tuples: The distinct quasi-identifier tuples with their counts, before they have numbers.
create or replace table anon_scratch.main.tuples as
select t1, count(*) as n, min(draw) as draw
from anon_scratch.main.coded
group by t1
-- 1 branch as in the template, 2fee65ba
