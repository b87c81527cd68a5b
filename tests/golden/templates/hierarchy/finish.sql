-- full_domain_ncp, hierarchy_1.finish: The hierarchy of an ordered column: one row per value and level. Leaves are the points of the domain, or the distinct values where it has no points to count.
create or replace table anon_scratch.main.hierarchy_1 as
with extent as (
    select min(lo) as lowest, max(level) as top
    from anon_scratch.main.bounds_1
-- 6 lines of the template, a8db16cd
        cast(cast(value as hugeint) - cast(lowest as hugeint) + 1 as bigint) as leaf,
        cast(cast(lo as hugeint) - cast(lowest as hugeint) + 1 as bigint) as node,
        cast(cast(hi as hugeint) - cast(lo as hugeint) + 1 as bigint) as leaves
    from anon_scratch.main.bounds_1 as b
    -- 7 lines of the template, 78d4deba
    node,
    case
        when level = top then '*'
        when label is not null then label
        when cast(lo as varchar) = cast(hi as varchar) then cast(lo as varchar)
        else '[' || cast(lo as varchar) || ', ' || cast(hi as varchar) || ']'
    end as label,
    leaves,
    lo,
    hi
from placed
-- 7 branches as in the template, 177e8fec
