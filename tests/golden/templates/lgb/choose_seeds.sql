-- lgb_ncp, choose seeds: Two units far from each other in every class that can still be divided: from a drawn unit go to the farthest, three times. Where that pair split off fewer than k rows, later attempts take another drawn unit and the one farthest from it, which is less extreme.
create or replace table anon_scratch.main.seeds as
with sized as (
    select class_id, cast(sum(n) as bigint) as n, count(*) as units, max(attempt) as attempt
    from anon_scratch.main.open_units
    group by class_id
    having sum(n) >= 4 and count(*) > 1
),
start as (
    select class_id, n, attempt, unit
    from (
        select
            o.class_id, s.n, s.units, s.attempt, o.unit,
            row_number() over (partition by o.class_id order by o.draw, o.unit) as choice
        from anon_scratch.main.open_units o
        join sized s on s.class_id = o.class_id
    )
    where choice = 1 + attempt % units
),
far_1 as (
    select class_id, n, attempt, unit
    from (
        select x.class_id, f.n, f.attempt, x.unit, x.n as rows, cast(sum(x.n) over (
            partition by x.class_id order by case when x.c1 = y.c1 then 0 else cast(round(1000000000 * (case when x.c1 = 0 or y.c1 = 0 then 1.0 / x.m1 else abs(x.p1 - y.p1) end)) as bigint) end + case when x.c2 = y.c2 then 0 else cast(round(1000000000 * (case when x.c2 = 0 or y.c2 = 0 then 1.0 / x.m2 else abs(x.p2 - y.p2) end)) as bigint) end + case when x.c3 = y.c3 then 0 else cast(round(1000000000 * (case when x.a3_1 = y.a3_1 then x.z3_1 when x.a3_2 = y.a3_2 then x.z3_2 when x.a3_3 = y.a3_3 then x.z3_3 when x.a3_4 = y.a3_4 then x.z3_4 when x.a3_5 = y.a3_5 then x.z3_5 else 1 end)) as bigint) end desc, x.draw, x.unit
            rows between unbounded preceding and current row
        ) as bigint) as reached
        from anon_scratch.main.open_units x
        join start f on f.class_id = x.class_id
        join anon_scratch.main.open_units y on y.unit = f.unit
    )
    where reached >= 2 and reached - rows < 2
),
far_2 as (
    select class_id, n, attempt, unit
    from (
        select x.class_id, f.n, f.attempt, x.unit, x.n as rows, cast(sum(x.n) over (
            partition by x.class_id order by case when x.c1 = y.c1 then 0 else cast(round(1000000000 * (case when x.c1 = 0 or y.c1 = 0 then 1.0 / x.m1 else abs(x.p1 - y.p1) end)) as bigint) end + case when x.c2 = y.c2 then 0 else cast(round(1000000000 * (case when x.c2 = 0 or y.c2 = 0 then 1.0 / x.m2 else abs(x.p2 - y.p2) end)) as bigint) end + case when x.c3 = y.c3 then 0 else cast(round(1000000000 * (case when x.a3_1 = y.a3_1 then x.z3_1 when x.a3_2 = y.a3_2 then x.z3_2 when x.a3_3 = y.a3_3 then x.z3_3 when x.a3_4 = y.a3_4 then x.z3_4 when x.a3_5 = y.a3_5 then x.z3_5 else 1 end)) as bigint) end desc, x.draw, x.unit
            rows between unbounded preceding and current row
        ) as bigint) as reached
        from anon_scratch.main.open_units x
        join far_1 f on f.class_id = x.class_id
        join anon_scratch.main.open_units y on y.unit = f.unit
        where f.attempt = 0
    )
    where reached >= 2 and reached - rows < 2
),
far_3 as (
    select class_id, n, attempt, unit
    from (
        select x.class_id, f.n, f.attempt, x.unit, x.n as rows, cast(sum(x.n) over (
            partition by x.class_id order by case when x.c1 = y.c1 then 0 else cast(round(1000000000 * (case when x.c1 = 0 or y.c1 = 0 then 1.0 / x.m1 else abs(x.p1 - y.p1) end)) as bigint) end + case when x.c2 = y.c2 then 0 else cast(round(1000000000 * (case when x.c2 = 0 or y.c2 = 0 then 1.0 / x.m2 else abs(x.p2 - y.p2) end)) as bigint) end + case when x.c3 = y.c3 then 0 else cast(round(1000000000 * (case when x.a3_1 = y.a3_1 then x.z3_1 when x.a3_2 = y.a3_2 then x.z3_2 when x.a3_3 = y.a3_3 then x.z3_3 when x.a3_4 = y.a3_4 then x.z3_4 when x.a3_5 = y.a3_5 then x.z3_5 else 1 end)) as bigint) end desc, x.draw, x.unit
            rows between unbounded preceding and current row
        ) as bigint) as reached
        from anon_scratch.main.open_units x
        join far_2 f on f.class_id = x.class_id
        join anon_scratch.main.open_units y on y.unit = f.unit
        where f.attempt = 0
    )
    where reached >= 2 and reached - rows < 2
),
pairs as (
    select a.class_id, a.n, a.unit as first, b.unit as second
    from far_2 a
    join far_3 b on b.class_id = a.class_id
    union all
    select a.class_id, a.n, a.unit, b.unit
    from start a
    join far_1 b on b.class_id = a.class_id
    where a.attempt > 0
)
select class_id, n, first, second from pairs where first <> second
