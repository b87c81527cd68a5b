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
),
unbound as (
    select distinct class_id, person from cells where whole
),
bound as (
    select c.* from cells c
    anti join unbound u on u.class_id = c.class_id and u.person = c.person
    where not c.missing
),
present as (
    select distinct class_id, level, node from bound
),
nested as (
    select distinct h.level, h.node, l.level as lower_level, l.node as lower_node
    from anon_scratch.main.recoding_100002 h
    join anon_scratch.main.recoding_100002 l on l.code = h.code and l.level < h.level
    where h.code > 0 and h.level < 1
),
inside as (
    select p.class_id, p.level, p.node, n.lower_level, n.lower_node
    from present p
    join nested n on n.level = p.level and n.node = p.node
    semi join present l on l.class_id = p.class_id and l.level = n.lower_level and l.node = n.lower_node
),
lowest as (
    select p.class_id, p.level, p.node from present p
    anti join inside i on i.class_id = p.class_id and i.level = p.level and i.node = p.node
),
stands_for as (
    select class_id, level, node, level as lowest_level, node as lowest_node from lowest
    union all
    select i.class_id, i.level, i.node, i.lower_level, i.lower_node
    from inside i
    semi join lowest l on l.class_id = i.class_id and l.level = i.lower_level and l.node = i.lower_node
)
select b.class_id, b.person as number, (cast(f.lowest_level as bigint) << 40) + f.lowest_node as value
from bound b
join stands_for f on f.class_id = b.class_id and f.level = b.level and f.node = b.node
union
select class_id, person, null from cells where whole or missing
