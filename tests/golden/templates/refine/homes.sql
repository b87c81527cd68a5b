, bit_or(v1) as v1  -- mondrian_many_values, classes for units left over: {% for one in kept %}, bit_or({{ one.word }}) as {{ one.word }}{% endfor %}
and bit_count(v1) >= 2  -- mondrian_many_values, classes for units left over: where size >= {{ k | lit }}{% for one in kept %} and bit_count({{ one.word }}) >= {{ one.l }}{% endfor %}
