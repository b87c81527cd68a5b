-- several_tables, nothing left out: The empty table of rows that are left out.
create or replace table anon_scratch.main.removed_rows as
select 0 as source, cast(0 as bigint) as row_ref from anon_scratch.main.owners where false
