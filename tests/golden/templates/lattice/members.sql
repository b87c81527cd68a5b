and  -- full_domain_t, units of published classes: join {{ classes | ident }} c on {% for word in words %}c.{{ word.g }} = m.{{ word.g }}{% if not loop.last %} and {% endif %}{% endfor %}
