, p.v1  -- mondrian_recursive, units after swaps: {% for one in kept %}, p.{{ one.word }}{% endfor %}{% for one in signs %}, p.{{ one.sign }}{% endfor %}
, p.sign1  -- mondrian_tree_distance, units after swaps: {% for one in kept %}, p.{{ one.word }}{% endfor %}{% for one in signs %}, p.{{ one.sign }}{% endfor %}
