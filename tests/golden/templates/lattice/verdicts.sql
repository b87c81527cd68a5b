+  -- full_domain_ncp, verdicts: , cast(sum(cast(g.records as hugeint) * ({% for a in attributes %}{{ a.r }}.{{ measure | ident }}{% if not loop.last %} + {% endif %}{% endfor %})) as hugeint) as {{ measure | ident }}
-- full_domain_t, verdicts: {% if monotone %} ... {% else %}
    -- if rows may be suppressed, any other rule can hold for a finer node and yet fail here
    x.number is null and (s.small > l.allowed or l.allowed = 0) as decides
