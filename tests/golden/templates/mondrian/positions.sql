, 0 as a1, 0 as z1  -- mondrian_persons, places in the domains: {% for level in levels %}, {{ level_of(a, level, "a") }} as {{ level.a }}, {{ level_of(a, level, "z") }} as {{ level.z }}{% endfor %}
-- lgb_tight, places in the domains: {% if a.flagged %}
union all
select 2, -1, null, 1
, 0, 0  -- lgb_parts, places in the domains: select {{ a.index | lit }}, -1, null, 1{% for level in levels %}, 0, 0{% endfor %}
