-- full_domain_ncp, hierarchy_1.bounds: Intervals of grid points as bounds in the column's type.
create or replace table anon_scratch.main.bounds_1 as
-- 4 lines of the template, eee7cb52
    cast(least(greatest(first_at, cast('-2147483648' as hugeint)), cast('2147483647' as hugeint)) as INTEGER) as lo,
    cast(least(greatest((past_at - 1), cast('-2147483648' as hugeint)), cast('2147483647' as hugeint)) as INTEGER) as hi,
    -- 7 lines of the template, 9215210f
        g.origin + i.past * g.step as past_at
    from anon_scratch.main.intervals_1 as i
    cross join anon_scratch.main.grid_1 as g
) as placed
-- 1 branch as in the template, 7c3c0945
