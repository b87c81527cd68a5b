join anon_scratch.main.domain_3 d on d.code = f.original  -- lgb_ncp, permute zip: {% if column.coded %}
