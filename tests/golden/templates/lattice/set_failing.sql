-- full_domain_sets, classes to judge again: Whether anything was suppressed in nodes that can still hold: it is missing in the classes of the other sets.
select count(*)
from anon_scratch.main.lattice_set_members m
join anon_scratch.main.lattice_classes c on c.class_id = m.class_id
where not c.published and c.number in (select number from anon_scratch.main.lattice_classes where published)
