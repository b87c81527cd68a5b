-- danonyir_eir_l, places of zip: {% for level in levels %}
    , a1
    , cast(round(
        (count(*) filter (where code > 0) over (partition by a1, code > 0) - 1)
            * 1000000000 / cast(greatest(size - 1, 1) as double)) as bigint) as cost1
cast(1000000000 as bigint)  -- danonyir_eir_l, places of zip: , {% if level.number == height %}cast({{ scale }} as bigint){% else %}cast(round(
, case when code > 0 then cast(round(coalesce(share, 0) * 1000000000) as bigint) end as place  -- danonyir_alpha_beta, places of cost: {% if proportional %} ... {% else %}
