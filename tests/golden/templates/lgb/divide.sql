-- lgb_ncp, divide: Divides every class between its seeds: units are ordered by how much nearer they are to the first.
create or replace table anon_scratch.main.sides as
with leaning as (
    select
        x.class_id, x.unit, x.n, s.n as n_all,
        (case when x.c1 = y.c1 then 0 else cast(round(1000000000 * (case when x.c1 = 0 or y.c1 = 0 then 1.0 / x.m1 else abs(x.p1 - y.p1) end)) as bigint) end + case when x.c2 = y.c2 then 0 else cast(round(1000000000 * (case when x.c2 = 0 or y.c2 = 0 then 1.0 / x.m2 else abs(x.p2 - y.p2) end)) as bigint) end + case when x.c3 = y.c3 then 0 else cast(round(1000000000 * (case when x.a3_1 = y.a3_1 then x.z3_1 when x.a3_2 = y.a3_2 then x.z3_2 when x.a3_3 = y.a3_3 then x.z3_3 when x.a3_4 = y.a3_4 then x.z3_4 when x.a3_5 = y.a3_5 then x.z3_5 else 1 end)) as bigint) end) - (case when x.c1 = w.c1 then 0 else cast(round(1000000000 * (case when x.c1 = 0 or w.c1 = 0 then 1.0 / x.m1 else abs(x.p1 - w.p1) end)) as bigint) end + case when x.c2 = w.c2 then 0 else cast(round(1000000000 * (case when x.c2 = 0 or w.c2 = 0 then 1.0 / x.m2 else abs(x.p2 - w.p2) end)) as bigint) end + case when x.c3 = w.c3 then 0 else cast(round(1000000000 * (case when x.a3_1 = w.a3_1 then x.z3_1 when x.a3_2 = w.a3_2 then x.z3_2 when x.a3_3 = w.a3_3 then x.z3_3 when x.a3_4 = w.a3_4 then x.z3_4 when x.a3_5 = w.a3_5 then x.z3_5 else 1 end)) as bigint) end) as lean
    from anon_scratch.main.open_units x
    join anon_scratch.main.seeds s on s.class_id = x.class_id
    join anon_scratch.main.open_units y on y.unit = s.first
    join anon_scratch.main.open_units w on w.unit = s.second
),
lined as (
    select
        *,
        cast(sum(n) over line as bigint) as n_left,
        cast(sum(case when lean <= 0 then n else 0 end) over (partition by class_id) as bigint) as n_near,
        row_number() over line as place
    from leaning
    window line as (partition by class_id order by lean, unit rows between unbounded preceding and current row)
),
cuts as (
    select class_id, place as cut
    from (
        select
            class_id, place,
            row_number() over (partition by class_id order by abs(n_left - n_near), place) as choice
        from lined
        where n_left >= 2 and n_all - n_left >= 2
    )
    where choice = 1
)
select l.unit, l.class_id, l.place <= c.cut as is_left, c.cut as units_left
from lined l
join cuts c on c.class_id = l.class_id
and n_left = n_near  -- lgb_promoted_persons, divide: {% if not rebalance %}
