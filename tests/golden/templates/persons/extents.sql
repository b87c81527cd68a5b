-- masks, tuples of persons: The distinct tuples of every unit, where the rows of a person may differ: what cells must cover.
create or replace table anon_scratch.main.extents as
select u.unit, min(u.n) as n, min(r.draw) as draw, r.c1
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.person = r.person
group by u.unit, r.c1
