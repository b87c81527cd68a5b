-- several_tables_everybody_reserved, steps of all tables: The ladders of all tables: cells of different tables, columns and steps have different numbers.
create or replace table anon_scratch.main.ladders as
select tuple, step, 6 as top, 2 as columns, cell, lost
from anon_scratch.main.rungs_1
union all
select tuple, step, 1 as top, 1 as columns, cell, lost
from anon_scratch.main.rungs_2
