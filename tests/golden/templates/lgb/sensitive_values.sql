where r1 is not null  -- lgb_mdp, sensitive cells of age: {% if column.present %}
