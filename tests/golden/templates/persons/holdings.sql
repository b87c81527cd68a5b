-- mondrian_identity_reserved, who holds what: The values of every person: every (person, value) pair once, with the number of its records.
create or replace table anon_scratch.main.holdings as
select
    u.unit,
p.number as person,
    1 as col,
    v.value,
    count(*) as n
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.t1 = r.t1 and u.t2 = r.t2
join anon_scratch.main.persons p on p.person = r.person
join anon_scratch.main.held_values_1 v on v.original is not distinct from r.s1
group by all
-- 2 branches as in the template, fa72e0ce
