-- mondrian_driven_median, ill by unit: How often each unit has each value of one sensitive column.
create or replace table anon_scratch.main.cells_1 as
select u.unit, f.value, count(*) as n
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.t1 = r.t1
join anon_scratch.main.reference_1 f on f.original is not distinct from r.s1
group by u.unit, f.value
-- 1 branch as in the template, e3ee915a
