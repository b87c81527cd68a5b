-- several_tables_everybody_reserved, classes that break a rule of visits.diagnosis: The classes that break a rule of a sensitive column by the rows that are left.
insert into anon_scratch.main.failing_classes
with present as (
    select r.class_id, f.value, count(distinct r.number) as n
    from anon_scratch.main.remaining_1 r
    join anon_scratch.main.left_reference_100001 f on f.original is not distinct from r.s100001
    group by r.class_id, f.value
),
layer_0 as (
    select p.class_id, p.n, f.*
    from present p
    join anon_scratch.main.left_reference_100001 f on f.value = p.value
),
classes as (
    select count(distinct class_id) as classes from anon_scratch.main.members
),
broken as (
    select class_id
    from layer_0
    group by class_id
    having not ((count(*) filter (where value > 0 and n > 0) >= 2))
)
select b.class_id, c.classes from broken b cross join classes c
-- several_tables_ruled_events, classes that break a rule of visits.ward: {% for layer in layers %}
layer_1 as (
    select *, count(*) over (partition by class_id, person, (value > 0)) as "eir_held"
    from layer_0
),
-- 3 branches as in the template, 5f7a5ed6
