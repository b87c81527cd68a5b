-- mondrian_identity_reserved, chosen cuts: The cuts that were taken.
create or replace table anon_scratch.main.chosen_cuts as
select
    class_id, attribute, code, single, units_left,
    kept_left < 4 as left_closed,
    n_all - kept_left < 4 as right_closed
from anon_scratch.main.offered_cuts
where turn = 0
