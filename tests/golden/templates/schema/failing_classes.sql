-- several_tables_remaining, classes with such persons: The classes where persons with equal numbers of rows break a rule.
insert into anon_scratch.main.failing_classes
select distinct c.class_id, (select count(distinct class_id) from anon_scratch.main.members)
from anon_scratch.main.choices c
semi join anon_scratch.main.failing_choices f on f.class_id = c.candidates
