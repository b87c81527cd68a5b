, p.v1  -- mondrian_recursive, better classes of blocks: {% for one in kept %}, p.{{ one.word }}{% endfor %}
