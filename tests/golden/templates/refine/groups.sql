, v1  -- mondrian_many_values, new classes in blocks: with recursive grow(unit, block, n, turn, left_over, grp, taken, size{% for one in kept %}, {{ one.word }}{% endfor %}{% for column in columns %}, {{ column.sql }}{% endfor %}) as (
, v1  -- mondrian_many_values, new classes in blocks: {% for one in kept %}, {{ one.word }}{% endfor %}{% for column in columns %}, {{ column.sql }}{% endfor %}
, cast(0 as bigint)  -- mondrian_many_values, new classes in blocks: {% for one in kept %}, cast(0 as bigint){% endfor %}{% for column in columns %}, cast({{ column.empty }} as bigint){% endfor %}
, v1  -- mondrian_many_values, new classes in blocks: select unit, block, n, turn{% for one in kept %}, {{ one.word }}{% endfor %}{% for column in columns %}, {{ column.sql }}{% endfor %}
-- mondrian_many_values, new classes in blocks: {% for one in kept %}
        -- the values that are missing have to fit into the rows that are missing
        + case when bit_count(jv1) + greatest(2 - size - n, 0) < 2 then 80000000 else 0 end
, u.v1 | g.v1 as jv1  -- mondrian_many_values, new classes in blocks: {% for one in kept %}, u.{{ one.word }} | g.{{ one.word }} as j{{ one.word }}{% endfor %}
, u.v1 | g.v1 as v1  -- mondrian_many_values, new classes in blocks: {% for one in kept %}, u.{{ one.word }} | g.{{ one.word }} as {{ one.word }}{% endfor %}
and bit_count(v1) >= 2  -- mondrian_many_values, new classes in blocks: select *, size >= {{ k | lit }}{% for one in kept %} and bit_count({{ one.word }}) >= {{ one.l }}{% endfor %} as closes from joined
, u.v1  -- mondrian_many_values, new classes in blocks: {% for one in kept %}, u.{{ one.word }}{% endfor %}{% for column in columns %}, u.{{ column.sql }}{% endfor %}
, case when closes then 0 else v1 end  -- mondrian_many_values, new classes in blocks: {% for one in kept %}, case when closes then 0 else {{ one.word }} end{% endfor %}
