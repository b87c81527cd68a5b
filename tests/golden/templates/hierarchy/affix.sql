-- full_domain_tree_distance, hierarchy_1.affix: {% if suffix %}
        -- by code points: reverse() keeps grapheme clusters together, substring() does not
        array_to_string(
            list_transform(
                range(1, length(text) + 1),
                lambda i: substring(text, length(text) + 1 - i, 1)
            ),
            ''
        ) as path
else repeat('*', longest - kept) || right(text, kept)  -- full_domain_tree_distance, hierarchy_1.affix: {% if suffix %}
