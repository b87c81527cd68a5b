-- several_tables_everybody_reserved, steps of visits: The ladder of a table: what every tuple of its events is published as on every step, from the values themselves (step 0) to the roots of all columns, and what that loses.
create or replace table anon_scratch.main.rungs_1 as
with tuples as (
    select 1099511627776 + row_number() over (order by c100001, c100002) as tuple, c100001, c100002
    from (select distinct c100001, c100002 from anon_scratch.main.coded_1)
),
steps as (
    select * from (values (0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0), (5, 4, 1), (6, 5, 1)) s(step, l100001, l100002)
)
select
    t.*, s.step,
    1099511627776 + dense_rank() over (order by s.step, r100001.node, r100002.node) as cell,
r100001.ncp + r100002.ncp as lost
from tuples t
cross join steps s
join anon_scratch.main.recoding_100001 r100001 on r100001.code = t.c100001 and r100001.level = s.l100001
join anon_scratch.main.recoding_100002 r100002 on r100002.code = t.c100002 and r100002.level = s.l100002
