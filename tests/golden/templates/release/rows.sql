and  -- mondrian_identity_reserved, write the release: join {{ units | ident }} u on {% for key in keys %}u.{{ key }} = r.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}
