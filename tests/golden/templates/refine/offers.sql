and bit_count(r.gv1 | q.v1) >= 2 and bit_count(q.gv1 | r.v1) >= 2  -- mondrian_many_values, offers to near classes: {% for one in kept %}
and r.sign1 = q.sign1  -- mondrian_dealt, offers to near classes: {% for one in signs %}
