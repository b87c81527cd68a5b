false as blank  -- msb_exact_mbf, levels of ward: {% if dimension.null_as_value %}
cast(coalesce(value in (try_cast('A' as VARCHAR)), false) as integer) as listed,  -- msb_exact_mmdcf_levels, levels of ward: {% if levels %}
when coalesce(value in (try_cast('A' as VARCHAR)), false) then 1  -- msb_exact_mmdcf_levels, levels of ward: {% for rank, needed, listed in levels %}
when coalesce(value in (try_cast('A' as VARCHAR)), false) then 2  -- msb_exact_mmdcf_levels, levels of ward: {% for rank, needed, listed in levels %}
+  -- msb_exact_mmdcf_levels, levels of ill: {% for rank, needed, listed in levels %}cast({{ listed }} as integer){% if not loop.last %} + {% endif %}{% endfor %} as listed,
