-- mondrian_driven_median, values of ill: The values of one sensitive column among the rows that are published, in their own order.
create or replace table anon_scratch.main.reference_1 as
with counted as (
    select s1 as original, count(*) as q
    from anon_scratch.main.coded r
    group by 1
),
-- 8 lines of the template, 2ea8796d
    from counted c
)
-- 7 lines of the template, 8812cb0e
from ordered
-- 8 branches as in the template, c7ed0f51
