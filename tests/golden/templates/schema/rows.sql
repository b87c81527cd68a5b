-- several_tables, rows of visits with their originals: The published rows of a table in the order of their draws, each with its original: keys are numbers drawn for this release, and links are those of the rows they lead to.
create or replace table anon_scratch.main.link_1 as
with steps as (
    select * from (values (0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0), (5, 4, 1), (6, 5, 1)) s(step, l1001, l1002)
)
select
    row_number() over (order by md5_number(concat(hex(c.draw), ':key'))) as "visit_id",
    u."patient_id" as "patient_id",
    s1001.label || case when s1001.nullable then ' or NULL' else '' end as "day",
    s1002.label || case when s1002.nullable then ' or NULL' else '' end as "ward",
    k.s1001 as "diagnosis",
    c.row_ref as "row_ref"
from anon_scratch.main.coded_1 c
join anon_scratch.main.rows_1 k on k.rowid = c.row_ref
join anon_scratch.main.link u on u."row_ref" = c.above
join anon_scratch.main.placed_rows p on p.source = 1 and p.row_ref = c.row_ref
join steps s on s.step = p.step
left join anon_scratch.main.recoding_1001 r1001 on r1001.code = c.c1001 and r1001.level = s.l1001
left join anon_scratch.main.shown_1001 s1001 on s1001.level = r1001.level and s1001.node = r1001.node
left join anon_scratch.main.recoding_1002 r1002 on r1002.code = c.c1002 and r1002.level = s.l1002
left join anon_scratch.main.shown_1002 s1002 on s1002.level = r1002.level and s1002.node = r1002.node
anti join anon_scratch.main.gone_1 g on g.row_ref = c.row_ref
order by c.draw
