-- lgb_ncp, grow: The groups of every class take further units, each the group whose loss it increases less: of the next units those for which the choice is clearest, as many as the groups already have, later several times as many.
create or replace table anon_scratch.main.dealt as
with boxes as (
    select *, cast(round(100000000 * cast((coalesce(hi1 - lo1, 0)) + (case when null2 = 1 and lo2 is not null then (coalesce(hi2 - lo2, 0) * 2 + 1) / 3 else coalesce(hi2 - lo2, 0) end) + (case when c3 is not null then 0 when a3_1 is not null then z3_1 when a3_2 is not null then z3_2 when a3_3 is not null then z3_3 when a3_4 is not null then z3_4 else 1 end) as double)) as bigint) as loss
    from (
        select *
        -- 4 lines of lgb/_leaning.sql.j2, 74c6bb0d
                , min(p1) as lo1
                , max(p1) as hi1
-- 11 more turns, fa7ea545
                , max(z3_4) as z3_4
            from anon_scratch.main.dealt
            -- 8 lines of lgb/_leaning.sql.j2, 5a2bf485
        , least(b.lo1, x.p1) as lo1
        , greatest(b.hi1, x.p1) as hi1
-- 11 more turns, 8d5d940e
        , x.z3_4 as z3_4
    from boxes b
    join anon_scratch.main.dealt x on x.class_id = b.class_id
    where x.is_left is null and x.turn <= b.units + 4 * b.units * case when units < 32 then 1 else 7 end
-- 6 lines of lgb/_leaning.sql.j2, 56a04145
        select *, (before + n) * cast(round(100000000 * cast((coalesce(hi1 - lo1, 0)) + (case when null2 = 1 and lo2 is not null then (coalesce(hi2 - lo2, 0) * 2 + 1) / 3 else coalesce(hi2 - lo2, 0) end) + (case when c3 is not null then 0 when a3_1 is not null then z3_1 when a3_2 is not null then z3_2 when a3_3 is not null then z3_3 when a3_4 is not null then z3_4 else 1 end) as double)) as bigint) - before * loss_before as growth
        from (
            select *
            -- 5 lines of lgb/_leaning.sql.j2, 34ec1b1f
-- 6 lines of the template, 2d3cd169
    where place <= units * case when units < 32 then 1 else 7 end
)
select
    x.unit, x.class_id, x.turn, x.n
    , x.c2
    , x.c3
    , x.p1
    , x.p2
    , x.a3_1
    , x.z3_1
    , x.a3_2
    , x.z3_2
    , x.a3_3
    , x.z3_3
    , x.a3_4
    , x.z3_4
    , coalesce(x.is_left, c.is_left) as is_left
from anon_scratch.main.dealt x
left join clearest c on c.unit = x.unit
-- 2 branches as in the template, 0321f0a4
