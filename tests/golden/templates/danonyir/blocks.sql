cast([] as integer[]) as proof_1,  -- danonyir_eir_l, blocks before the first move: {% for _, proof, _ in proofs %}
