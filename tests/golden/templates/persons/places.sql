-- danonyir_eir_l, places of zip: {% for level in levels %}
    , a1
    , cast(
        (count(*) filter (where code > 0) over (partition by a1, code > 0) - 1) * 142857144 as bigint) as cost1
-- 1 branch as in the template, af829515
