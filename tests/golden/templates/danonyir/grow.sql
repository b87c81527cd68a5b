proof_1,  -- danonyir_eir_l, grow clusters: {% for _, proof, _ in proofs %}
-- danonyir_eir_l, grow clusters: {% for _, proof, values in proofs %}
            , case
                when x.fresh then values_1[1:1]
                when x.kind = 1 or x.proof_1 is null then null
                when len(values_1) = 0 or list_has_any(x.proof_1, values_1) then x.proof_1
                when len(x.proof_1) < 1 then list_append(x.proof_1, values_1[1])
                else cast([0] as integer[])
            end as proof_1
, h.values_1  -- danonyir_eir_l, grow clusters: {% for _, _, values in proofs %}
and not (coalesce(proof_1 = [0], false) or coalesce(proof_2 = [0], false))  -- danonyir_eir_l, grow clusters: where remaining > 0{% if waits %} and not {{ waits }}{% endif %}
