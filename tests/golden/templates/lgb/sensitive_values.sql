where r3 is not null  -- lgb_ncp, sensitive cells of zip: {% if column.present %}
