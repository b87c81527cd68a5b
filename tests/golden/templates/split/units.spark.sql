-- mondrian_parts, units in order of leaves: The units as on the other engines. The numbers end the statement, where Spark finds them and numbers every leaf by itself: a window over all tuples would be one task.
create or replace table anon_scratch.main.units as
with placed as (
    select cast(1 as bigint) as leaf, *
    from (select *, cast(t1 // 9 as integer) as c1, cast((t1) % 9 as integer) as c2 from anon_scratch.main.tuples) coded_tuples
)
select row_number() over (order by leaf, t1) as unit, *
from placed
