union all  -- mondrian_refine, what values look like: {% if exact or not loop.last %}
,  -- mondrian_refine, what values look like: max(case when number = {{ number }} then figure end) as {{ names[loop.index0] | ident }}{% if not loop.last %},{% endif %}
