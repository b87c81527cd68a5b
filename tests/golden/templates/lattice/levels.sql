union all  -- full_domain_ncp, levels of the lattice: {% if not loop.last %}
