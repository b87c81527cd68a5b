-- full_domain_sets, sex by class of a set: How often each value of one sensitive column occurs in each class of a set of columns.
create or replace table anon_scratch.main.lattice_set_histogram_1 as
select s.number, s.class_id, h.value, cast(sum(h.n) as bigint) as n
from anon_scratch.main.lattice_histogram_1 h
join anon_scratch.main.lattice_set_members m on m.class_id = h.class_id
join anon_scratch.main.lattice_set_classes s on s.class_id = m.set_class
where s.published
group by s.number, s.class_id, h.value
