-- full_domain_ncp, hierarchy_1.positions: Where each value lies on the grid, counted from 0.
create or replace table anon_scratch.main.positions_1 as
select v.value, v.n, cast(cast(value as hugeint) - g.origin as bigint) as position
from anon_scratch.main.values_1 as v
cross join anon_scratch.main.grid_1 as g
-- 1 branch as in the template, 9cfa912f
