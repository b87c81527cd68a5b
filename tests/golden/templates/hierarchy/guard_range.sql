-- full_domain_ncp, hierarchy_1.guard_range: A range of values that is too wide to count its points in 64 bits, or values too large to count from at all.
with judged as (
    select
        count(*) filter (where false) > 0 as large,
        (
            max(cast(value as double))
            - least(min(cast(value as double)), 1)
        ) * 1 > 4000000000000000000 as wide
    from anon_scratch.main.values_1
-- 4 lines of the template, 494d52e9
-- 1 branch as in the template, c8fb3d23
