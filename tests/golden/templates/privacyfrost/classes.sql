,  -- privacyfrost_recursive, classes: select {% for word in words %}bit_or(v.{{ word.m }}) as {{ word.m }}{% if not loop.last %}, {% endif %}{% endfor %}
,  -- privacyfrost_recursive, classes: group by {% for word in words %}{{ word.g }}{% if not loop.last %}, {% endif %}{% endfor %}
and  -- privacyfrost_recursive, classes: join named c on {% for word in words %}c.{{ word.g }} = p.{{ word.g }}{% if not loop.last %} and {% endif %}{% endfor %}
