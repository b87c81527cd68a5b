-- msb_batched_msdcf_levels, one level for every value of sex: Values of the data that are in two levels, or in none.
-- 4 lines of the template, fcd4f17a
        count(*) filter (where listed = 0 and code > 0) as without
    from anon_scratch.main.msb_values_1
)
where twice > 0 or without > 0
-- 1 branch as in the template, 3e2d689b
