-- several_tables_lifted, rows of visits by person: The columns that are lifted to the persons, for every row of their table, with the key of the person. They are numbered: a column may be called as anything else here is.
create or replace table anon_scratch.main.lifted_rows_1 as
select a0.up as owner, a0.v1
from (select cast("patient_id" as varchar) as up, "region" as v1 from anon_scratch.main.lifted_query_1) a0
-- 1 branch as in the template, e32a67c5
