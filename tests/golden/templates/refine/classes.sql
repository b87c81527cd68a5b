, bit_or(v1) as v1  -- mondrian_many_values, extents of classes: {% for one in kept %}, bit_or({{ one.word }}) as {{ one.word }}{% endfor %}
