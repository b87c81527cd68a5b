,  -- privacyfrost_recursive, tuples worth looking at: select {% for word in words %}bit_or({{ word.m }}) as {{ word.m }}{% if not loop.last %}, {% endif %}{% endfor %}
,  -- privacyfrost_recursive, tuples worth looking at: group by {% for word in words %}t.{{ word.w }} & coalesce(f.{{ word.m }}, 0){% if not loop.last %}, {% endif %}{% endfor %}
