, v1, gv1  -- mondrian_many_values, new classes in blocks: with recursive grow(unit, block, n, turn, left_over, grp, taken, size{% for one in kept %}, {{ one.word }}, g{{ one.word }}{% endfor %}{% for column in columns %}, {{ column.sql }}, g{{ column.sql }}{% endfor %}) as (
, v1, cast(0 as bigint) as gv1  -- mondrian_many_values, new classes in blocks: {% for one in kept %}, {{ one.word }}, cast(0 as bigint) as g{{ one.word }}{% endfor %}
, gv1 | v1 as jv1  -- mondrian_many_values, new classes in blocks: {% for one in kept %}, g{{ one.word }} | {{ one.word }} as j{{ one.word }}{% endfor %}
-- mondrian_many_values, new classes in blocks: {% for one in kept %}
            -- the values that are missing have to fit into the rows that are missing
            + case when bit_count(jv1) + greatest(2 - size - n, 0) < 2 then 80000000 else 0 end
and bit_count(s.jv1) >= 2  -- mondrian_many_values, new classes in blocks: select s.*, case when s.size + s.n >= {{ k | lit }}{% for one in kept %} and bit_count(s.j{{ one.word }}) >= {{ one.l }}{% endfor %} then 1 else 0 end as closes
, s.v1, case when p.closes = 1 then 0 else p.jv1 end as gv1  -- mondrian_many_values, new classes in blocks: {% for one in kept %}, s.{{ one.word }}, case when p.closes = 1 then 0 else p.j{{ one.word }} end as g{{ one.word }}{% endfor %}
