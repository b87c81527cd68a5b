-- several_tables, visits.diagnosis by unit: How many persons of each unit have each value of a sensitive column of another table.
create or replace table anon_scratch.main.cells_100001 as
select o.unit, f.value, count(distinct r.person) as n
from anon_scratch.main.rows_1 r
join anon_scratch.main.owners o on o.owner = r.person
join anon_scratch.main.reference_100001 f on f.original is not distinct from r.s100001
group by o.unit, f.value
