conditions."null_conditions.zip",  -- lgb_ncp, warnings about the source: {% for _, name in conditions %}
-- lgb_ncp, warnings about the source: {% if conditions %}
    (
        select
            count(*) filter (where f3 is null) as "null_conditions.zip"
        from anon_scratch.main.snapshot
    ) as conditions
cross join  -- lgb_ncp, warnings about the source: {% if conditions or not loop.first %}
,  -- lgb_parts, warnings about the source: {{ expression }} as {{ name }}{% if not loop.last %},{% endif %}
