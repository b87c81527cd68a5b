-- mondrian_parts, leaves: Every leaf of the tree with its units and its rows (persons), counted over all tuples.
create or replace table anon_scratch.main.leaves_of_cuts as
select leaf, min(unit) as first_unit, max(unit) as last_unit, count(*) as units, cast(sum(n) as bigint) as n
from anon_scratch.main.units
group by leaf
