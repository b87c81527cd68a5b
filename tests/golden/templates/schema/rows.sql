-- several_tables_everybody_reserved, rows of visits with their originals: The published rows of a table in the order of their draws, each with its original: keys are numbers drawn for this release, and links are those of the rows they lead to.
create or replace table anon_scratch.main.link_1 as
with steps as (
    select * from (values (0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0), (5, 4, 1), (6, 5, 1)) s(step, l100001, l100002)
)
select
    row_number() over (order by md5_number(concat(hex(c.draw), ':key'))) as "visit_id",
    u."patient_id" as "patient_id",
    s100001.label || case when s100001.nullable then ' or NULL' else '' end as "day",
    s100002.label || case when s100002.nullable then ' or NULL' else '' end as "ward",
    k.s100001 as "diagnosis",
    c.row_ref as "row_ref"
from anon_scratch.main.coded_1 c
join anon_scratch.main.rows_1 k on k.rowid = c.row_ref
join anon_scratch.main.link u on u."row_ref" = c.above
join anon_scratch.main.placed_rows p on p.source = 1 and p.row_ref = c.row_ref
join steps s on s.step = p.step
left join anon_scratch.main.recoding_100001 r100001 on r100001.code = c.c100001 and r100001.level = s.l100001
left join anon_scratch.main.shown_100001 s100001 on s100001.level = r100001.level and s100001.node = r100001.node
left join anon_scratch.main.recoding_100002 r100002 on r100002.code = c.c100002 and r100002.level = s.l100002
left join anon_scratch.main.shown_100002 s100002 on s100002.level = r100002.level and s100002.node = r100002.node
anti join anon_scratch.main.gone_1 g on g.row_ref = c.row_ref
order by c.draw
