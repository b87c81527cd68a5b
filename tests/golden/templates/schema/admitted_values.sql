-- several_tables_ruled_events, values of visits.ward at worst: The values of an event column for a rule, in the worst case: a published node stands for every node below it that the class publishes as well. A person with a row at the root may have any value, and proves nothing: such a person has none here.
create or replace table anon_scratch.main.admitted_values_100002 as
with steps as (
    select * from (values (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 1), (6, 1)) s(step, level)
),
cells as (
    select distinct p.class_id, p.person, r.level, r.node, r.code = 0 as missing, r.level = 1 as whole
    from anon_scratch.main.placed_rows p
    join anon_scratch.main.coded_1 c on c.row_ref = p.row_ref
    join steps s on s.step = p.step
    join anon_scratch.main.recoding_100002 r on r.code = c.c100002 and r.level = s.level
    anti join anon_scratch.main.gone_1 g on g.row_ref = p.row_ref
    where p.source = 1
-- 14 lines of the template, 66479491
    from anon_scratch.main.recoding_100002 h
    join anon_scratch.main.recoding_100002 l on l.code = h.code and l.level < h.level
    where h.code > 0 and h.level < 1
-- 23 lines of the template, a8ff9c79
