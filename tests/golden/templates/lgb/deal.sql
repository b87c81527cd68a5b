where r.r3 is not null  -- lgb_ncp, deal zip: {% if column.row_present %}
