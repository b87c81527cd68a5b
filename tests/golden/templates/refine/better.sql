, p.v1  -- mondrian_many_values, better classes of blocks: {% for one in kept %}, p.{{ one.word }}{% endfor %}
