case when bucket = taken.bucket then n - 1 else n end,  -- msb_exact_mbf, form groups: {% if batched %} ... {% else %}
-- msb_exact_mbf, form groups: {% if batched %} ... {% else %}
        cross join (
            select taken
            from (
                select arg_max(bucket_row, score) as taken
                from (
true  -- msb_exact_mbf, form groups: when size = 0 then {% if batched %}began = 0{% else %}true{% endif %} ... {% else %}
-- msb_exact_mbf, form groups: {% if batched %} ... {% else %}
                )
            )
            where taken is not null
        ) best
        where s.n > 0
