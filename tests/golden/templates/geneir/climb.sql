,  -- geneir_two_diseases, climb: select {% for index, name in level_names %}count(*) filter (where attribute = {{ index }}) as {{ name }}{% if not loop.last %}, {% endif %}{% endfor %}
