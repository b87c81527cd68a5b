-- full_domain_ncp, hierarchy_1.guard_range: A range of values that is too wide to count its points in 64 bits, or values too large to count from at all.
with judged as (
    select
        count(*) filter (where false) > 0 as large,
        (
            max(cast(value as double))
            - least(min(cast(value as double)), 1)
        ) * 1 > 4000000000000000000 as wide
    from anon_scratch.main.values_1
)
select large and not wide as large
from judged
where large or wide
min(cast(value as double))  -- full_domain_c_dm_persons, hierarchy_1.guard_range: - {% if from_one %}least(min(cast(value as double)), 1){% else %}min(cast(value as double)){% endif %} ... {% else %}
