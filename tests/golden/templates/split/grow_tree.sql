-- mondrian_parts, coarse cuts of a level: The cuts of a level, added to the tree.
insert into anon_scratch.main.coarse_cuts
select
    (select coalesce(max(level), 0) + 1 from anon_scratch.main.coarse_cuts),
    class_id, attribute, code, single, units_left
from anon_scratch.main.chosen_cuts
