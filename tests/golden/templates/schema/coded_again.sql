-- several_tables_rows, codes of labs among the rows that are left: The rows of a table with codes that enough of those have that are not left out.
create or replace table anon_scratch.main.rows_2 as
select k.* replace (
    case when k.k200002 is not null then least(k.k200002, (select min(v) from (select z.k200002 as v from anon_scratch.main.rows_2 z anti join anon_scratch.main.gone_2 x on x.row_ref = z.rowid where z.k200002 is not null order by v desc limit 2) as beyond)) end as k200002
)
from anon_scratch.main.rows_2 k
order by k.rowid
