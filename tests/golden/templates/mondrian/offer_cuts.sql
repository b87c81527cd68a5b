-- mondrian_identity_reserved, offer cuts: For every open class, its admissible cuts in the order in which they are judged, best first: the best cut of every class, then a few more of each, and so on.
create or replace table anon_scratch.main.offered_cuts as
with histogram as (
    -- 6 lines as in plans/mondrian.sql, partition
        from anon_scratch.main.open_units o
        cross join (values (1), (2)) as t(attribute)
        where not o.closed
    -- 13 lines as in plans/mondrian.sql, partition
    window below as (partition by h.class_id, h.attribute order by h.code rows between unbounded preceding and current row)
-- 55 lines as in plans/mondrian.sql, partition
        case when level < 16 then cast(gain as decimal(18, 8)) else least(kept_left, n_all - kept_left) end as merit
    from candidates

),
-- 9 lines of the template, dd0c8d2f
    case when rank <= 1 then 1 when rank <= 4 or rank * n_all <= 5000 then 2 when rank <= 16 or rank * n_all <= 50000 then 3 else 4 end as turn
from numbered
-- 1 branch as in the template, 39cfcd82
