where n.choice // 17179869184 <= u.records * cast(2000000000 as hugeint)  -- danonyir_eir_l, places: {% if whole is not none %}
where offer in (select grp from anon_scratch.main.offered_verdicts where holds union all select grp from anon_scratch.main.offered_searched)  -- geneir_alpha_beta, places: {% if verdicts %}
