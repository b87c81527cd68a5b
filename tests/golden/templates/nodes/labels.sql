min(h.label) as text  -- full_domain_ncp, nodes of ward: {% if sets %} ... {% else %}
-- full_domain_ncp, nodes of ward: {% if kept is not none %} ... {% else %}
        n.text
    from nodes n
else repeat('*', greatest(x.longest - k.kept, 0)) || right(n.text, k.kept)  -- full_domain_tree_distance, nodes of zip: {% if suffix %}
string_agg(p.label, ', ' order by p.text) as text  -- full_domain_distortion, nodes of ward: {% if sets %}
-- full_domain_distortion, nodes of ward: {% if sets %}
        when n.size = 1 then n.text
        else '{' || n.text || '}'
