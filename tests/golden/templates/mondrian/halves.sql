-- mondrian_identity_reserved, halves of cuts: Both halves of the cuts whose turn it is.
create or replace table anon_scratch.main.halves as
select
    2 * t.offer + case when
        case when t.single then case t.attribute when 1 then o.c1 when 2 then o.c2 end = t.code else case t.attribute when 1 then o.c1 when 2 then o.c2 end <= t.code end
        then 0 else 1 end as grp,
    o.unit
from anon_scratch.main.offered_cuts t
join anon_scratch.main.open_units o on o.class_id = t.class_id
where t.turn = 1
row_number() over (partition by t.offer order by case t.attribute when 1 then o.c1 when 2 then o.c2 end, o.unit) <= t.units_left  -- mondrian_population_of_persons, halves of cuts: {% if relaxed %}
