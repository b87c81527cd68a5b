-- msb_batched_msdcf_levels, one level for every value of sex: Values of the data that are in two levels, or in none.
select twice, without
from (
    select
        count(*) filter (where listed > 1) as twice,
        count(*) filter (where listed = 0 and code > 0) as without
    from anon_scratch.main.msb_values_1
)
where twice > 0 or without > 0
0 as without  -- msb_batched_msdcf_levels, one level for every value of ill: {% if unlisted %} ... {% else %}
