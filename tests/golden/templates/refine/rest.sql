, p.v1, bit_or(o.v1) as gv1  -- mondrian_many_values, extents without a unit: {% for one in kept %}, p.{{ one.word }}, bit_or(o.{{ one.word }}) as g{{ one.word }}{% endfor %}
, p.v1  -- mondrian_many_values, extents without a unit: group by p.class_id, p.unit, p.n{% for one in signs %}, p.{{ one.sign }}{% endfor %}{% for one in kept %}, p.{{ one.word }}{% endfor %}{% for column in columns %}, p.{{ column.sql }}{% endfor %}
, 0, v1  -- mondrian_many_values, extents without a unit: {% for one in kept %}, 0, {{ one.word }}{% endfor %}
, p.sign1  -- mondrian_dealt, extents without a unit: {%- for one in signs %}, p.{{ one.sign }}{% endfor %}
, p.sign1  -- mondrian_dealt, extents without a unit: group by p.class_id, p.unit, p.n{% for one in signs %}, p.{{ one.sign }}{% endfor %}{% for one in kept %}, p.{{ one.word }}{% endfor %}{% for column in columns %}, p.{{ column.sql }}{% endfor %}
, null  -- mondrian_dealt, extents without a unit: {%- for one in signs %}, null{% endfor %}
