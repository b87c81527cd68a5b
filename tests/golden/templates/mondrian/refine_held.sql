-- mondrian_refine, values of classes: How many units of a class hold each of its values.
create or replace table anon_scratch.main.refine_held as
select m.class_id, c.attribute, c.code, count(*) as units
from anon_scratch.main.members m
join anon_scratch.main.refine_codes c on c.unit = m.unit
group by m.class_id, c.attribute, c.code
