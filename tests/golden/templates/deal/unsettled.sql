-- mondrian_tree_distance, units to settle: Whether units are left over and the last round settled some.
select count(*)
from anon_scratch.main.deal_homes
where grp is null and turn < 40 and turn <= (select coalesce(max(turn), -1) from anon_scratch.main.deal_homes where grp is not null)
