-- privacyfrost_recursive, partial-domain de-generalization: {% elif protections %}
counted_1_1 as (
    select o.class_id, m.attribute, (o.w0 & m.m0) + (o.w1 & m.m1) as child, c.value, cast(sum(c.n) as bigint) as n
    from division o
    join "sized" m on m.class_id = o.class_id
    join anon_scratch.main.cells_1 c on c.unit = o.unit
    group by 1, 2, 3, 4
),
layer_1_1_0 as (
    select c.class_id, c.attribute, c.child, c.n, r.*
    -- 4 lines as in templates/privacyfrost/start.sql, privacyfrost_recursive, pre-computation
    select class_id, attribute, child, (count(*) filter (where value > 0 and n > 0) >= 2) as holds
    from layer_1_1_0
    group by class_id, attribute, child
),
held_1_1 as (
    select m.*
    from "sized" m
    anti join judged_1_1 j
        on not j.holds and j.class_id = m.class_id and j.attribute = m.attribute
),

best_1 as (
    select class_id, max({'gain': gain, 'place': -attribute}) as best from held_1_1 group by class_id
),
chosen_1 as (
    select a.*
    from held_1_1 a
    join best_1 b on b.class_id = a.class_id and -b.best.place = a.attribute
),
join totals_1_1 g on g.class_id = c.class_id and g.attribute = c.attribute and g.child = c.child  -- privacyfrost_suppressing, partial-domain de-generalization: {% if p.sized %}
-- 5 branches as in the template, 47844ac4
