-- mondrian_parts, release memory: Tuples without numbers are not needed any more.
create or replace table anon_scratch.main.tuples as
select * from anon_scratch.main.tuples where false
