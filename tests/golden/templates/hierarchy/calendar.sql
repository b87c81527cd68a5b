-- full_domain_c_dm_persons, hierarchy_2.calendar: Calendar levels: the day, month, quarter, year or decade of each value, and the root.
create or replace table anon_scratch.main.bounds_2 as
with periods as (
    select
        value,
        1 as level,
        cast(date_trunc('month', cast(value as timestamp)) as timestamp) as begins,
        cast(date_trunc('month', cast(value as timestamp)) as timestamp)
            + interval '1 month' as past
    from anon_scratch.main.values_2
    union all
    select
        value,
        2 as level,
        cast(date_trunc('quarter', cast(value as timestamp)) as timestamp) as begins,
        cast(date_trunc('quarter', cast(value as timestamp)) as timestamp)
            + interval '3 months' as past
    -- 4 lines as in templates/hierarchy/calendar.sql, full_domain_c_dm_persons, hierarchy_2.calendar
        3 as level,
        cast(date_trunc('year', cast(value as timestamp)) as timestamp) as begins,
        cast(date_trunc('year', cast(value as timestamp)) as timestamp)
            + interval '1 year' as past
    -- 4 lines as in templates/hierarchy/calendar.sql, full_domain_c_dm_persons, hierarchy_2.calendar
        4 as level,
        cast(date_trunc('decade', cast(value as timestamp)) as timestamp) as begins,
        cast(date_trunc('decade', cast(value as timestamp)) as timestamp)
            + interval '10 years' as past
    from anon_scratch.main.values_2
),

typed as (
    select value, level, begins, cast(begins as date) as lo, cast(past as date) - 1 as hi
    -- 10 lines of the template, a3fc3cff
