where offer in (select grp from anon_scratch.main.offered_verdicts where holds)  -- geneir_alpha_beta, who asks for a cluster: {% if verdicts %}
-- 1 branch as in the template, 1557bf4d
