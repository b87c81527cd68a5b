-- several_tables, steps of visits: The ladder of a table: what every tuple of its events is published as on every step, from the values themselves (step 0) to the roots of all columns, and what that loses.
create or replace table anon_scratch.main.rungs_1 as
with tuples as (
    select 1099511627776 + row_number() over (order by c1001, c1002) as tuple, c1001, c1002
    from (select distinct c1001, c1002 from anon_scratch.main.coded_1)
),
steps as (
    select * from (values (0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0), (5, 4, 1), (6, 5, 1)) s(step, l1001, l1002)
)
select
    t.*, s.step,
    1099511627776 + dense_rank() over (order by s.step, r1001.node, r1002.node) as cell,
r1001.ncp + r1002.ncp as lost
from tuples t
cross join steps s
join anon_scratch.main.recoding_1001 r1001 on r1001.code = t.c1001 and r1001.level = s.l1001
join anon_scratch.main.recoding_1002 r1002 on r1002.code = t.c1002 and r1002.level = s.l1002
