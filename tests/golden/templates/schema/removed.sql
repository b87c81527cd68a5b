-- several_tables_everybody_reserved, unpublished rows: All rows that are not published, by the numbers of their tables.
create or replace table anon_scratch.main.removed_rows as
select 1 as source, row_ref from anon_scratch.main.gone_1
union all
select 2 as source, row_ref from anon_scratch.main.gone_2
