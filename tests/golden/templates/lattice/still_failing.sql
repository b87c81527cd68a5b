-- full_domain_t, classes to judge again: Whether classes have been suppressed of nodes that are still possible, so that what the others are compared with has changed.
select count(*)
from anon_scratch.main.lattice_failing f
join anon_scratch.main.lattice_classes c on c.class_id = f.class_id
where c.number in (select number from anon_scratch.main.lattice_classes where published)
