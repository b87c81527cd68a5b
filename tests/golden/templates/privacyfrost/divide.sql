-- privacyfrost_driven, divide classes: One step of the partial-domain de-generalization: the parts of every class that can be divided.
create or replace table anon_scratch.main.open_classes as
-- 4 lines as in plans/privacyfrost.sql, levels of classes
    from anon_scratch.main.open_classes
    -- 8 lines as in plans/privacyfrost.sql, partial-domain de-generalization
        , unnest([case when m0 & 24 <> 0 then 24 when m0 & 4 <> 0 then 4 when m0 & 2 <> 0 then 2 when m0 & 1 <> 0 then 1 else 0 end]) as m0
    -- 7 lines as in plans/privacyfrost.sql, partial-domain de-generalization
    from anon_scratch.main.open_classes o
    -- 22 lines as in plans/privacyfrost.sql, partial-domain de-generalization

counted_1_1 as (
    select o.class_id, m.attribute, (o.w0 & m.m0) as child, c.value, cast(sum(c.n) as bigint) as n
    from anon_scratch.main.open_classes o
    join "chosen_1" m on m.class_id = o.class_id
    join anon_scratch.main.cells_1 c on c.unit = o.unit
    group by 1, 2, 3, 4
),
totals_1_1 as (
    select class_id, attribute, child, cast(sum(n) as bigint) as group_size
    from counted_1_1
    group by class_id, attribute, child
),
layer_1_1_0 as (
    select g.class_id, g.attribute, g.child, coalesce(c.n, 0) as n, g.group_size, r.*
    from totals_1_1 g
    cross join anon_scratch.main.reference_1 r
    left join counted_1_1 c on c.class_id = g.class_id and c.attribute = g.attribute and c.child = g.child and c.value = r.value
),
layer_1_1_1 as (
    select *, cast(sum(n * q_size - q * group_size) over (partition by class_id, attribute, child order by value rows unbounded preceding) as bigint) as "running_surplus"
    from layer_1_1_0
),
judged_1_1 as (
    select class_id, attribute, child, (cast(coalesce(sum(abs(running_surplus)), 0) as decimal(38, 0)) * 5 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * (greatest((coalesce(max(m), 0) + case when max(q_size) > max(q_known) then 1 else 0 end), 2) - 1)) * 2) as holds
    from layer_1_1_1
    -- 4 lines as in templates/privacyfrost/partial.sql, privacyfrost_recursive, partial-domain de-generalization
    from "chosen_1" m
    anti join judged_1_1 j
        on not j.holds and j.class_id = m.class_id and j.attribute = m.attribute
),

refused as (
    select c.class_id, c.attribute
    from chosen_1 c
    anti join held_1_1 h on h.class_id = c.class_id
-- 6 lines of privacyfrost/_division.sql.j2, 9a80acbf
counted_2_1 as (
    select o.class_id, m.attribute, (o.w0 & m.m0) as child, c.value, cast(sum(c.n) as bigint) as n
    from anon_scratch.main.open_classes o
    join "others" m on m.class_id = o.class_id
    join anon_scratch.main.cells_1 c on c.unit = o.unit
    group by 1, 2, 3, 4
),
totals_2_1 as (
    select class_id, attribute, child, cast(sum(n) as bigint) as group_size
    from counted_2_1
    group by class_id, attribute, child
),
layer_2_1_0 as (
    select g.class_id, g.attribute, g.child, coalesce(c.n, 0) as n, g.group_size, r.*
    from totals_2_1 g
    cross join anon_scratch.main.reference_1 r
    left join counted_2_1 c on c.class_id = g.class_id and c.attribute = g.attribute and c.child = g.child and c.value = r.value
),
layer_2_1_1 as (
    select *, cast(sum(n * q_size - q * group_size) over (partition by class_id, attribute, child order by value rows unbounded preceding) as bigint) as "running_surplus"
    from layer_2_1_0
),
judged_2_1 as (
    select class_id, attribute, child, (cast(coalesce(sum(abs(running_surplus)), 0) as decimal(38, 0)) * 5 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * (greatest((coalesce(max(m), 0) + case when max(q_size) > max(q_known) then 1 else 0 end), 2) - 1)) * 2) as holds
    from layer_2_1_1
    group by class_id, attribute, child
),
held_2_1 as (
    select m.*
    from "others" m
    anti join judged_2_1 j
        on not j.holds and j.class_id = m.class_id and j.attribute = m.attribute
),

best_2 as (
    select class_id, max({'gain': gain, 'place': -attribute}) as best from held_2_1 group by class_id
),
chosen_2 as (
    select a.*
    from held_2_1 a
    join best_2 b on b.class_id = a.class_id and -b.best.place = a.attribute
),

chosen as (
    select * from held_1_1
    union all
    select * from chosen_2
),
taken as (
    select m.class_id, m.m0, c.child, c.part
    from chosen m
    -- 4 lines as in plans/privacyfrost.sql, partial-domain de-generalization
    from anon_scratch.main.open_classes o
    join taken m on m.class_id = o.class_id and m.child = (o.w0 & m.m0)
)

select * from parted
