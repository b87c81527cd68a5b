-- hierarchy_suffix, hierarchy_1.affix_levels: {% if lengths %}
    select kept, longest
    from (
        select unnest([4, 2]) as kept
    ) as given
    cross join extent
    where kept < longest
