-- mondrian_parts, a sample of tuples: A sample of the distinct tuples: those with the smallest draws, if there are enough tuples for several parts. A tuple has the smallest draw of its rows, which is the smaller the more rows it has; so the draw counts as often as there are rows, and every tuple is as likely as any other.
create or replace table anon_scratch.main.sampled_tuples as
select
    row_number() over (order by draw) as unit,
    cast(1 as bigint) as n, c1, c2
from (
    select *, cast(t1 // 9 as integer) as c1, cast((t1) % 9 as integer) as c2
    from anon_scratch.main.tuples
    where cast(draw >> 96 as bigint) * least(n, 1073741824) < 4294967296
        and (select count(*) from anon_scratch.main.tuples) > 4
) sampled
-- 2 branches as in the template, 77f631c9
