-- lgb_weights, least loss of any classes: The same bound for the weighted loss, under its own names, because it does not bound `ncp`.
select ncp_bound as ncp_weighted_bound, ncp_bound_sample as ncp_weighted_bound_sample
from (
-- 74 lines as in plans/mondrian.sql, least loss of any classes
) t
