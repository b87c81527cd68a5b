-- full_domain_ncp, hierarchy_1.guard_cells: More leaf intervals than a hierarchy should have.
select cast(floor(points / 1) as bigint) as leaves
from anon_scratch.main.grid_1
where floor(points / 1) > 1000000000000
