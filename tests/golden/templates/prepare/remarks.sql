conditions."null_conditions.age",  -- lgb_mdp, warnings about the source: {% for _, name in conditions %}
-- lgb_mdp, warnings about the source: {% if conditions %}
    (
        select
            count(*) filter (where f1 is null) as "null_conditions.age",
            count(*) filter (where f3 is null) as "null_conditions.sex"
        from anon_scratch.main.snapshot
    ) as conditions
cross join  -- lgb_mdp, warnings about the source: {% if conditions or not loop.first %}
