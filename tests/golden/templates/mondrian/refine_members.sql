-- mondrian_refine, move units: The units in their classes after the moves of a round.
create or replace table anon_scratch.main.refined as
select m.unit, coalesce(v.target, m.class_id) as class_id
from anon_scratch.main.members m
left join anon_scratch.main.refine_moves v on v.unit = m.unit
m.class_id  -- mondrian_refine, final classes: select m.unit, {% if moves %}coalesce(v.target, m.class_id){% else %}m.class_id{% endif %} as class_id ... {% else %}
