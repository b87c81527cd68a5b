-- several_tables_lifted, columns of the persons: The table of the persons with the columns that are lifted from others; NULL for who has no row there.
create or replace table anon_scratch.main.lifted as
select p.* exclude (anonymizer_key), l1."region", l2."twin", l2."blood"
from (select *, cast("patient_id" as varchar) as anonymizer_key from "anon_source"."main"."patients") p
left join (
    select owner, any_value("region") as "region"
    from anon_scratch.main.lifted_rows_1
    group by owner
) l1 on l1.owner = p.anonymizer_key
left join (
    select owner, any_value("twin") as "twin", any_value("blood") as "blood"
    from anon_scratch.main.lifted_rows_2
    group by owner
) l2 on l2.owner = p.anonymizer_key
