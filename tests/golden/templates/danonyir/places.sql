where offer in (select grp from anon_scratch.main.offered_verdicts where holds union all select grp from anon_scratch.main.offered_searched)  -- geneir_alpha_beta, places: {% if verdicts %}
