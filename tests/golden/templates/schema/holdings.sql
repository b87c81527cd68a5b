-- several_tables_everybody_reserved, who holds what: The values of every person in the sensitive columns of all tables: every (person, value) pair once, with the number of its records.
create or replace table anon_scratch.main.holdings as
select o.unit, o.person, 1 as col, v.value, count(*) as n
from (select *, rowid as person from anon_scratch.main.snapshot) r
join anon_scratch.main.owners o on o.owner = r.person
join anon_scratch.main.held_values_1 v on v.original is not distinct from r.s1
group by all
union all
select o.unit, o.person, 100001 as col, v.value, count(*) as n
from (select * from anon_scratch.main.rows_1) r
join anon_scratch.main.owners o on o.owner = r.person
join anon_scratch.main.held_values_100001 v on v.original is not distinct from r.s100001
group by all
