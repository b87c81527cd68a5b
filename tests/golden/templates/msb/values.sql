cast(coalesce(value in (try_cast('m' as VARCHAR), try_cast('f' as VARCHAR)), false) as integer) as listed,  -- msb_batched_msdcf_levels, levels of sex: {% if levels %}
when coalesce(value in (try_cast('m' as VARCHAR), try_cast('f' as VARCHAR)), false) then 1  -- msb_batched_msdcf_levels, levels of sex: {% for rank, needed, listed in levels %}
when coalesce(value in (try_cast('m' as VARCHAR), try_cast('f' as VARCHAR)), false) then 2  -- msb_batched_msdcf_levels, levels of sex: {% for rank, needed, listed in levels %}
-- 2 branches as in the template, 59ef3c0a
