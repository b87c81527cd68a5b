-- mondrian_driven_median, close classes: Classes without an admissible cut are final.
insert into anon_scratch.main.members
select o.unit, o.class_id
from anon_scratch.main.open_units o
where o.class_id not in (select class_id from anon_scratch.main.chosen_cuts)
