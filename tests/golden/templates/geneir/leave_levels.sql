,  -- geneir_two_diseases, levels of these classes: select {% for index, name in level_names %}count(*) filter (where attribute = {{ index }}) as {{ name }}{% if not loop.last %}, {% endif %}{% endfor %}
,  -- geneir_two_diseases, levels of these classes: select p.grp, {% for index, name in level_names %}h.{{ name }}{% if not loop.last %}, {% endif %}{% endfor %}
