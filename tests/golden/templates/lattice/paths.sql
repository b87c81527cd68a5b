union all  -- full_domain_ncp, paths of values: {% if not loop.last %}
