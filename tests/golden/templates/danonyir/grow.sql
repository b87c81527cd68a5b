and not (coalesce(proof_1 = [0], false) or coalesce(proof_2 = [0], false))  -- danonyir_eir_l, grow clusters: where remaining > 0{% if waits %} and not {{ waits }}{% endif %}
-- 3 branches as in the template, 5d7c8c46
