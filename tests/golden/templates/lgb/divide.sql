-- lgb_ncp, divide: Classes are divided into their two groups if both have k rows. If the cut may move, units are in one order: those of the first group before those of the second, each by how it leans.
create or replace table anon_scratch.main.sides as
with boxes as (
    select *, cast(round(100000000 * cast((coalesce(hi1 - lo1, 0)) + (case when null2 = 1 and lo2 is not null then (coalesce(hi2 - lo2, 0) * 2 + 1) / 3 else coalesce(hi2 - lo2, 0) end) + (case when c3 is not null then 0 when a3_1 is not null then z3_1 when a3_2 is not null then z3_2 when a3_3 is not null then z3_3 when a3_4 is not null then z3_4 else 1 end) as double)) as bigint) as loss
    from (
        select *
        from (
            select
                class_id, is_left, cast(sum(n) as bigint) as n,
                cast(sum(count(*)) over (partition by class_id) as bigint) as units
                , min(p1) as lo1
                , max(p1) as hi1
                , min(p2) as lo2
                , max(p2) as hi2
                , max(case when c2 = 0 then 1 else 0 end) as null2
                , case when min(c3) = max(c3) then min(c3) end as c3
                , case when min(a3_1) = max(a3_1) then min(a3_1) end as a3_1
                , max(z3_1) as z3_1
                , case when min(a3_2) = max(a3_2) then min(a3_2) end as a3_2
                , max(z3_2) as z3_2
                , case when min(a3_3) = max(a3_3) then min(a3_3) end as a3_3
                , max(z3_3) as z3_3
                , case when min(a3_4) = max(a3_4) then min(a3_4) end as a3_4
                , max(z3_4) as z3_4
            from anon_scratch.main.dealt
            where is_left is not null
            group by class_id, is_left
        )
    )
),
grown as (
    select
        x.unit, x.class_id, x.turn, x.n, b.is_left, b.units, b.n as before, b.loss as loss_before
        , least(b.lo1, x.p1) as lo1
        , greatest(b.hi1, x.p1) as hi1
        , least(b.lo2, x.p2) as lo2
        , greatest(b.hi2, x.p2) as hi2
        , greatest(b.null2, case when x.c2 = 0 then 1 else 0 end) as null2
        , case when x.c3 = b.c3 then x.c3 end as c3
        , case when x.a3_1 = b.a3_1 then x.a3_1 end as a3_1
        , x.z3_1 as z3_1
        , case when x.a3_2 = b.a3_2 then x.a3_2 end as a3_2
        , x.z3_2 as z3_2
        , case when x.a3_3 = b.a3_3 then x.a3_3 end as a3_3
        , x.z3_3 as z3_3
        , case when x.a3_4 = b.a3_4 then x.a3_4 end as a3_4
        , x.z3_4 as z3_4
    from boxes b
    join anon_scratch.main.dealt x on x.class_id = b.class_id
    
),
leaning as (
    select
        class_id, unit, min(turn) as turn, min(n) as n, min(units) as units,
        cast(sum(case when is_left then growth else -growth end) as bigint) as lean
    from (
        select *, (before + n) * cast(round(100000000 * cast((coalesce(hi1 - lo1, 0)) + (case when null2 = 1 and lo2 is not null then (coalesce(hi2 - lo2, 0) * 2 + 1) / 3 else coalesce(hi2 - lo2, 0) end) + (case when c3 is not null then 0 when a3_1 is not null then z3_1 when a3_2 is not null then z3_2 when a3_3 is not null then z3_3 when a3_4 is not null then z3_4 else 1 end) as double)) as bigint) - before * loss_before as growth
        from (
            select *
            from grown
        )
    )
    group by class_id, unit
),

lined as (
    select
        l.class_id, l.unit, l.n,
        cast(sum(l.n) over line as bigint) as n_left,
        cast(sum(l.n) over (partition by l.class_id) as bigint) as n_all,
        cast(sum(case when d.is_left then l.n else 0 end) over (partition by l.class_id) as bigint) as n_near,
        row_number() over line as place
    from leaning l
    join anon_scratch.main.dealt d on d.unit = l.unit
    window line as (
        partition by l.class_id order by case when d.is_left then 0 else 1 end, l.lean, l.unit
        rows between unbounded preceding and current row
    )
),
cuts as (
    select class_id, place as cut
    from (
        select class_id, place, row_number() over (partition by class_id order by abs(n_left - n_near), place) as choice
        from lined
        where n_left >= 2 and n_all - n_left >= 2
    )
    where choice = 1
)
select l.unit, l.class_id, l.place <= c.cut as is_left, c.cut as units_left
from lined l
join cuts c on c.class_id = l.class_id
-- lgb_promoted_persons, divide: {% if rebalance %} ... {% else %}
with sizes as (
    select class_id, count(case when is_left then 1 end) as units_left
    from anon_scratch.main.dealt
    group by class_id
    having sum(case when is_left then n else 0 end) >= 2 and sum(case when is_left then 0 else n end) >= 2
)
select d.unit, d.class_id, d.is_left, s.units_left
from anon_scratch.main.dealt d
join sizes s on s.class_id = d.class_id
