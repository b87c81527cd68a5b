-- mondrian_parts, release memory: Empty a table that no later step reads, so that its memory is free.
create or replace table anon_scratch.main.tuples as
select * from anon_scratch.main.tuples where false
