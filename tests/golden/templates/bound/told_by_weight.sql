-- mondrian_weights, least loss of any classes: The same bound for the weighted loss, under its own names, because it does not bound `ncp`.
select ncp_bound as ncp_weighted_bound, ncp_bound_sample as ncp_weighted_bound_sample
from (
-- 29 lines as in plans/mondrian.sql, least loss of any classes
        greatest(case when e.r is null then r.cap else greatest(e.first, least(coalesce(s.least, e.far), e.far)) end - 4, 0) as lost
    -- 40 lines as in plans/mondrian.sql, least loss of any classes
            / (cast((select sum(n) from anon_scratch.main.units) as double) * 40000000) as bound
    from rated r
    cross join varied v
) s
) t
