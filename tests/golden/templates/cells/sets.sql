list(d.value order by d.value) as cell  -- mondrian_driven_median, sets of zip: {% if typed %}
-- mondrian_many_rows, sets of sex: {% if attribute.as_bits %} ... {% else %}
    select distinct m.class_id, u.c3 as code
    from anon_scratch.main.members m
    join anon_scratch.main.units u on u.unit = m.unit
    join anon_scratch.main.boxes b on b.class_id = m.class_id
    where b.lo3 < b.hi3 and u.c3 > 0
class_id  -- mondrian_many_rows, sets of sex: {% set key %}{% if attribute.as_bits %}bits{% else %}class_id{% endif %}{% endset %} ... {% else %}
select count(*) from anon_scratch.main.present_3 where code > 0  -- mondrian_many_rows, sets of sex: {%- if present is not none %}select count(*) from {{ present | ident }} where code > 0
