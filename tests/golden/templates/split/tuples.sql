-- mondrian_parts, distinct tuples: The distinct quasi-identifier tuples with their counts, before they have numbers.
create or replace table anon_scratch.main.tuples as
select t1, count(*) as n, min(draw) as draw
from anon_scratch.main.coded
group by t1
, min(c1) as c1, min(c2) as c2  -- mondrian_parts_of_rows, distinct tuples: select {{ keys | join }}{% if codes %}, {{ codes | join }}{% endif %}, {{ count }} as n, min(draw) as draw
