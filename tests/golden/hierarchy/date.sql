-- hierarchy_1.guard_values: Values that the builder cannot place: how many there are, and in how many rows. (stops the run if it returns rows)
select count(*) as distinct_values, cast(sum(n) as bigint) as row_count
from anon_scratch.main.values_1
where not isfinite(value)
having count(*) > 0;

-- hierarchy_1.calendar: Calendar levels: the day, month, quarter, year or decade of each value, and the root.
create or replace table anon_scratch.main.bounds_1 as
with periods as (
    select
        value,
        1 as level,
        cast(date_trunc('month', cast(value as timestamp)) as timestamp) as begins,
        cast(date_trunc('month', cast(value as timestamp)) as timestamp)
            + interval '1 month' as past
    from anon_scratch.main.values_1
    union all
    select
        value,
        2 as level,
        cast(date_trunc('quarter', cast(value as timestamp)) as timestamp) as begins,
        cast(date_trunc('quarter', cast(value as timestamp)) as timestamp)
            + interval '3 months' as past
    from anon_scratch.main.values_1
    union all
    select
        value,
        3 as level,
        cast(date_trunc('year', cast(value as timestamp)) as timestamp) as begins,
        cast(date_trunc('year', cast(value as timestamp)) as timestamp)
            + interval '1 year' as past
    from anon_scratch.main.values_1
    union all
    select
        value,
        4 as level,
        cast(date_trunc('decade', cast(value as timestamp)) as timestamp) as begins,
        cast(date_trunc('decade', cast(value as timestamp)) as timestamp)
            + interval '10 years' as past
    from anon_scratch.main.values_1
),

typed as (
    select value, level, begins, cast(begins as date) as lo, cast(past as date) - 1 as hi
    from periods
)

select value, level, epoch_us(begins) as place, lo, hi, cast(null as varchar) as label
from typed
union all
select
    value, level + 1, 0, min(lo) over (), max(hi) over (), cast(null as varchar)
from typed
where level = (select max(level) from typed);

-- hierarchy_1.finish: The hierarchy of an ordered column: one row per value and level. Leaves are the points of the domain, or the distinct values where it has no points to count.
create or replace table anon_scratch.main.hierarchy_1 as
with extent as (
    select min(lo) as lowest, max(level) as top
    from anon_scratch.main.bounds_1
),

placed as (
    select
        b.*,
        e.top,
        cast(date_diff('day', DATE '1970-01-01', value) - date_diff('day', DATE '1970-01-01', lowest) + 1 as bigint) as leaf,
        cast(date_diff('day', DATE '1970-01-01', lo) - date_diff('day', DATE '1970-01-01', lowest) + 1 as bigint) as node,
        cast(date_diff('day', DATE '1970-01-01', hi) - date_diff('day', DATE '1970-01-01', lo) + 1 as bigint) as leaves
    from anon_scratch.main.bounds_1 as b
    cross join extent as e
)

select
    value,
    leaf,
    level,
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
from placed;
