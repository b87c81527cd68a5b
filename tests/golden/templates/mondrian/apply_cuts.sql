-- mondrian_driven_median, apply cuts: The members of every class that is cut move to its two halves; nothing else stays open.
create or replace table anon_scratch.main.open_units as
-- 5 lines of mondrian/_children.sql.j2, 21e86c31
    n, c1, c2
from (
    select
        o.*, t.units_left, t.left_closed, t.right_closed,
        case t.attribute when 1 then o.c1 when 2 then o.c2 end <= t.code as is_left
    from anon_scratch.main.open_units o
    join anon_scratch.main.chosen_cuts t on t.class_id = o.class_id
    where not o.closed
)
row_number() over (partition by o.class_id order by case t.attribute when 1 then o.c1 when 2 then o.c2 end, o.unit) <= t.units_left as is_left  -- mondrian_population_of_persons, apply cuts: {% if relaxed %}
