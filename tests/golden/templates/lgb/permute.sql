join anon_scratch.main.domain_1 d on d.code = f.original  -- lgb_mdp, permute age: {% if column.coded %}
