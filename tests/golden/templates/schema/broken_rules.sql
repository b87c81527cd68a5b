-- several_tables_three_events, sets that break a rule: The sets of rows whose holders break a rule join those that too few persons hold.
insert into anon_scratch.main.broken_sets
select distinct c.class_id, c.one, c.two, c.three
from anon_scratch.main.choices c
semi join anon_scratch.main.failing_choices f on f.class_id = c.candidates
