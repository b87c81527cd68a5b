, bit_or(o.v1) as v1  -- mondrian_many_values, extents without a unit: {% for one in kept %}, bit_or(o.{{ one.word }}) as {{ one.word }}{% endfor %}
, p.v1, o.v1 as gv1  -- mondrian_many_values, extents without a unit: {% for one in kept %}, p.{{ one.word }}, o.{{ one.word }} as g{{ one.word }}{% endfor %}
, 0, v1  -- mondrian_many_values, extents without a unit: {% for one in kept %}, 0, {{ one.word }}{% endfor %}
, p.sign1  -- mondrian_dealt, extents without a unit: {%- for one in signs %}, p.{{ one.sign }}{% endfor %}
, null  -- mondrian_dealt, extents without a unit: {%- for one in signs %}, null{% endfor %}
