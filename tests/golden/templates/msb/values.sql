false as blank  -- msb_exact_mbf, levels of ward: {% if dimension.null_as_value %}
cast(coalesce(value in (try_cast('m' as VARCHAR), try_cast('f' as VARCHAR)), false) as integer) as listed,  -- msb_batched_msdcf_levels, levels of sex: {% if levels %}
when coalesce(value in (try_cast('m' as VARCHAR), try_cast('f' as VARCHAR)), false) then 1  -- msb_batched_msdcf_levels, levels of sex: {% for rank, needed, listed in levels %}
when coalesce(value in (try_cast('m' as VARCHAR), try_cast('f' as VARCHAR)), false) then 2  -- msb_batched_msdcf_levels, levels of sex: {% for rank, needed, listed in levels %}
+  -- msb_batched_msdcf_levels, levels of ill: {% for rank, needed, listed in levels %}cast({{ listed }} as integer){% if not loop.last %} + {% endif %}{% endfor %} as listed,
