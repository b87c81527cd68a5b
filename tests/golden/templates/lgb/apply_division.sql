-- lgb_ncp, apply the division: The units of every divided class move to their group's class; classes that failed may try again.
create or replace table anon_scratch.main.open_units as
select *, row_number() over (partition by class_id order by draw, unit) as turn
from (
    select
        o.unit,
        case when s.unit is null or s.is_left then o.class_id else o.class_id + s.units_left end as class_id,
        o.n,
        o.draw,
        case when s.unit is null then o.attempt + 1 else 0 end as attempt
        , o.c1
        , o.c2
-- 10 more turns, 142a894a
        , o.z3_4
    from anon_scratch.main.open_units o
    left join anon_scratch.main.sides s on s.unit = o.unit
    where s.unit is not null
        or (o.class_id in (select class_id from anon_scratch.main.seeds) and o.attempt < 0)
)
