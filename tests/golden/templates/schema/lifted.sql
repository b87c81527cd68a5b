-- several_tables_lifted, columns of the persons: The table of the persons with the columns that are lifted from others; NULL for who has no row there.
create or replace table anon_scratch.main.lifted as
select p.* exclude ("anonymizer_key_0"), l1.v1 as "region", l2.v1 as "twin", l2.v2 as "blood"
from (select *, cast("patient_id" as varchar) as "anonymizer_key_0" from "anon_source"."main"."patients") p
left join (
    select owner, any_value(v1) as v1
    from anon_scratch.main.lifted_rows_1
    group by owner
) l1 on l1.owner = p."anonymizer_key_0"
left join (
    select owner, any_value(v1) as v1, any_value(v2) as v2
    from anon_scratch.main.lifted_rows_2
    group by owner
) l2 on l2.owner = p."anonymizer_key_0"
