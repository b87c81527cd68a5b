-- full_domain_t, classes to judge again: Whether any classes were suppressed in nodes that can still hold, which changes what their other classes are compared with.
select count(*)
from anon_scratch.main.lattice_failing f
join anon_scratch.main.lattice_classes c on c.class_id = f.class_id
where c.number in (select number from anon_scratch.main.lattice_classes where published)
