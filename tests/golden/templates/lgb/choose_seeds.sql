-- lgb_ncp, choose seeds: Two units far from each other in every class that can still be divided: from a drawn unit go to the farthest, and from there again. Where that pair split off fewer than k rows, later attempts take another drawn unit and the one farthest from it, which is less extreme.
create or replace table anon_scratch.main.seeds as
with sized as (
    select class_id, count(*) as units, max(attempt) as attempt
    from anon_scratch.main.open_units
    group by class_id
    having sum(n) >= 4 and count(*) > 1
),
start as (
    select s.class_id, s.units, s.attempt, o.unit
    from anon_scratch.main.open_units o
    join sized s on s.class_id = o.class_id and o.turn = 1 + s.attempt % s.units
),
far_1 as (
    select class_id, units, attempt, unit
    from (
        select x.class_id, f.units, f.attempt, x.unit, x.n as rows, cast(sum(x.n) over (
            partition by x.class_id order by cast(round(100000000 * cast((case when x.c1 = y.c1 then 0 else coalesce(abs(x.p1 - y.p1), cast(1 as double) / 9) end) + (case when x.c2 = y.c2 then 0 else coalesce(abs(x.p2 - y.p2), cast(1 as double) / 3) end) + (case when x.c3 = y.c3 then 0 else case when x.a3_1 = y.a3_1 then x.z3_1 when x.a3_2 = y.a3_2 then x.z3_2 when x.a3_3 = y.a3_3 then x.z3_3 when x.a3_4 = y.a3_4 then x.z3_4 else 1 end end) as double)) as bigint) desc, x.turn
            rows between unbounded preceding and current row
        ) as bigint) as reached
        from anon_scratch.main.open_units x
        join start f on f.class_id = x.class_id
        join anon_scratch.main.open_units y on y.unit = f.unit
    )
    where reached >= 2 and reached - rows < 2
),
far_2 as (
    -- 7 lines as in templates/lgb/choose_seeds.sql, lgb_ncp, choose seeds
        join far_1 f on f.class_id = x.class_id
        join anon_scratch.main.open_units y on y.unit = f.unit
        where f.attempt = 0
    )
    where reached >= 2 and reached - rows < 2
),
-- 11 lines of the template, b7338fe0
