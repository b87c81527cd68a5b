-- several_tables, published values of day: The codes of one event column among the rows that are published; 0 is NULL.
create or replace table anon_scratch.main.present_100001 as
select distinct c.c100001 as code
from anon_scratch.main.coded_1 c
anti join anon_scratch.main.gone_1 g on g.row_ref = c.row_ref
