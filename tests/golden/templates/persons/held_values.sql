-- mondrian_identity_reserved, values of ill: Numbers for the values of one sensitive column, the most widespread first; 0 is NULL that does not count as a value.
create or replace table anon_scratch.main.held_values_1 as
select
    original,
    cast(case when original is null then 0
        else row_number() over (partition by original is null order by persons desc, original nulls last) end as integer) as value
from (
    select s1 as original, count(distinct person) as persons
    from anon_scratch.main.coded
    group by 1
)
-- 2 branches as in the template, 1bf670fa
