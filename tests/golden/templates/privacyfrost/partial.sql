,  -- privacyfrost_recursive, partial-domain de-generalization: unnest([{% for a in by_rank %}{{ a.rank | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
,  -- privacyfrost_recursive, partial-domain de-generalization: unnest([{% for a in by_rank %}{{ a.weight | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as priority
,  -- privacyfrost_recursive, partial-domain de-generalization: , unnest([{% for a in by_rank %}{{ a.parting_mask(word.number) }}{% if not loop.last %}, {% endif %}{% endfor %}]) as {{ word.m }}
or  -- privacyfrost_recursive, partial-domain de-generalization: select * from parting where {% for word in words %}{{ word.m }} <> 0{% if not loop.last %} or {% endif %}{% endfor %}
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
    from counted_1_1 c
    join anon_scratch.main.reference_1 r on r.value = c.value
),
judged_1_1 as (
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
g.group_size,  -- privacyfrost_suppressing, partial-domain de-generalization: select {% for key in keys %}c.{{ key }}, {% endfor %}c.n, {% if p.sized %}g.group_size, {% endif %}r.*
join totals_1_1 g on g.class_id = c.class_id and g.attribute = c.attribute and g.child = c.child  -- privacyfrost_suppressing, partial-domain de-generalization: {% if p.sized %}
