-- hierarchy_conventional_double, hierarchy_1.grid_reals: A grid over the domain of a floating-point column, so that intervals end on grid points.
create or replace table anon_scratch.main.grid_1 as
with ends as (
    select
        cast(min(cast(value as double)) as double) as lowest,
        cast(max(cast(value as double)) as double) as highest,
        count(*) as distinct_values
    from anon_scratch.main.values_1
-- 6 lines of the template, d71ef8aa
        coalesce(NULL, (highest - lowest) / least(distinct_values, 65536)) as leaf
    from ends
    where lowest is not null
),

-- 14 lines of the template, bdebd1db
-- 2 branches as in the template, 85d1cf9d
