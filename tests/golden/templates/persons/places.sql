-- danonyir_eir_l, places of zip: {% for level in levels %}
    , a1
    , cast(round(
        (count(*) filter (where code > 0) over (partition by a1, code > 0) - 1)
            * 1000000000 / cast(greatest(size - 1, 1) as double)) as bigint) as cost1
-- 2 branches as in the template, 80d07a0f
