-- mondrian_driven_median, first classes: All units in their first classes, all of them open.
create or replace table anon_scratch.main.open_units as
select unit, 1 as class_id, 0 as level, false as closed, n, c1, c2
from anon_scratch.main.units
