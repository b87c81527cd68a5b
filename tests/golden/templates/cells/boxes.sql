, bool_or(u.c1 = -1) as f1  -- lgb_mdp, extent of classes: {% if a.flagged %}
