where r.r1 is not null  -- lgb_mdp, deal age: {% if column.row_present %}
