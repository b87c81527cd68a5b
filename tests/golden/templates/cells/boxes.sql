, bool_or(u.c3 = -1) as f3  -- lgb_ncp, extent of classes: {% if a.flagged %}
