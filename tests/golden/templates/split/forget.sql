-- mondrian_parts, release memory: Empty the table of tuples without numbers, which is no longer needed.
create or replace table anon_scratch.main.tuples as
select * from anon_scratch.main.tuples where false
