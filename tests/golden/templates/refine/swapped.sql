, p.v1  -- mondrian_many_values, units after swaps: {% for one in kept %}, p.{{ one.word }}{% endfor %}{% for one in signs %}, p.{{ one.sign }}{% endfor %}
, p.sign1  -- mondrian_dealt, units after swaps: {% for one in kept %}, p.{{ one.word }}{% endfor %}{% for one in signs %}, p.{{ one.sign }}{% endfor %}
