-- lgb_ncp, divide: Classes are divided into their two groups if both have k rows. If the cut may move, units are in one order: those of the first group before those of the second, each by how it leans.
create or replace table anon_scratch.main.sides as
-- 27 lines as in templates/lgb/grow.sql, lgb_ncp, grow
    
-- 14 lines as in templates/lgb/grow.sql, lgb_ncp, grow

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
