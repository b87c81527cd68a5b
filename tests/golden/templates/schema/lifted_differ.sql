-- several_tables_lifted, columns of visits that differ: Columns that differ between the rows of a person, NULL being a value, with the number of such persons.
select 0 as place, count(*) as persons
from (
    select owner from anon_scratch.main.lifted_rows_1
    where owner is not null
    group by owner
    having count(distinct v1) + max(case when v1 is null then 1 else 0 end) > 1
)
having count(*) > 0
order by place
-- 1 branch as in the template, 9247f191
