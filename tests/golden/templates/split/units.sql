-- mondrian_parts, units in order of leaves: The distinct tuples as units, numbered in the order of the leaves of the tree: a leaf, and every node of the tree, is a range of units. Codes that are made from the keys are made again after the rows were sorted, which need half of the memory without them.
create or replace table anon_scratch.main.units as
with placed as (
    select cast(1 as bigint) as leaf, t1, n, draw
    from (select *, cast(t1 // 9 as integer) as c1, cast((t1) % 9 as integer) as c2 from anon_scratch.main.tuples) coded_tuples
),
numbered as (
    select row_number() over (order by leaf, t1) as unit, *
    from placed
)
select *, cast(t1 // 9 as integer) as c1, cast((t1) % 9 as integer) as c2
from numbered
-- 1 branch as in the template, 684888c0
