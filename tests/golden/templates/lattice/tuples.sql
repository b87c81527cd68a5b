join records r on r.t1 = u.t1 and r.t2 = u.t2 and r.t3 = u.t3  -- full_domain_c_dm_persons, packed tuples: {% if persons %}
-- 3 branches as in the template, 6ea4d594
