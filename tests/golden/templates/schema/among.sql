-- several_tables_three_events, rows of persons of those who remain: The rows of a table as seen by an observer who knows a set of rows: those of everybody who has it.
create or replace table anon_scratch.main.among as
select c.candidates as class_id, r.number, r.s1
from anon_scratch.main.choices c
join anon_scratch.main.remaining_persons r on r.number = c.person
