where n.near // 17179869184 <= u.records * cast(2000000000 as hugeint)  -- danonyir_eir_l, places: {% if whole is not none %}
where offer in (select grp from anon_scratch.main.offered_verdicts where holds)  -- geneir_alpha_beta, who asks for a cluster: {% if verdicts %}
