or  -- mondrian_identity_reserved, one tuple per person: having {% for code in codes %}min({{ code }}) <> max({{ code }}){% if not loop.last %} or {% endif %}{% endfor %}
