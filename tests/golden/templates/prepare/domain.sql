-- mondrian_refine, codes of ward: {% if nulls %}
    union all
    select null, 10
case when v.value is null then 0 else  -- mondrian_refine, codes of ward: {% if nulls %}case when v.value is null then 0 else {% endif %}row_number() over (
partition by v.value is null  -- mondrian_refine, codes of ward: {% if nulls %}partition by v.value is null {% endif %}order by {% if attribute.ordered %}v.value{% elif attribute.height %}h.leaf, v.value{% else %}v.n desc, v.value{% endif %}
end  -- mondrian_refine, codes of ward: ){% if nulls %} end{% endif %} as code,
-- lgb_ncp, codes of born: {% elif attribute.kind == "date" %}
    cast(date_diff('day', min(value) over (), value) as double)
        / nullif(date_diff('day', min(value) over (), max(value) over ()), 0) as share
