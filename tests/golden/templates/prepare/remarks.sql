conditions."null_conditions.zip",  -- lgb_ncp, warnings about the source: {% for _, name in conditions %}
-- lgb_ncp, warnings about the source: {% if conditions %}
    (
        select
            count(*) filter (where f3 is null) as "null_conditions.zip"
        from anon_scratch.main.snapshot
    ) as conditions
-- 2 branches as in the template, 93a10a28
