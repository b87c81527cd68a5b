+  -- full_domain_ncp, nodes of the lattice: {% for a in attributes %}{{ a.v }}.level * cast({{ radixes[loop.index0] }} as bigint){% if not loop.last %} + {% endif %}{% endfor %} as number
+  -- full_domain_ncp, nodes of the lattice: , {% for a in attributes %}{{ a.v }}.{{ word.m }}{% if not loop.last %} + {% endif %}{% endfor %} as {{ word.m }}
+  -- full_domain_ncp, nodes of the lattice: , {% for a in attributes %}{{ a.v }}.{{ measure | ident }}{% if not loop.last %} + {% endif %}{% endfor %} as {{ measure | ident }}
+  -- full_domain_ncp, nodes of the lattice: , {% for a in attributes %}{{ a.v }}.entropy{% if not loop.last %} + {% endif %}{% endfor %} as guide
cross join  -- full_domain_ncp, nodes of the lattice: from {% for a in attributes %}(select * from {{ levels | ident }} where attribute = {{ a.number }}) {{ a.v }}{% if not loop.last %} cross join {% endif %}{% endfor %}
cast(floor(pow(cast(l.units_records as double), 2) * exp(-c.guide / 1000000.0) * 0.9999) as hugeint) as bound  -- full_domain_c_dm_persons, nodes of the lattice: {% if optimum == "c_dm" %}
