, 0 as a1, 0 as z1  -- mondrian_recursive, places in the domains: {% for level in levels %}, {{ level_of(a, level, "a") }} as {{ level.a }}, {{ level_of(a, level, "z") }} as {{ level.z }}{% endfor %}
-- lgb_mdp, places in the domains: {% if a.flagged %}
union all
select 1, -1, null, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
