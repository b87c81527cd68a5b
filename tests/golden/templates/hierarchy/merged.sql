-- hierarchy_on_the_fly, hierarchy_1.merged: On-the-fly hierarchy: the range of each value's node at every level.
create or replace table anon_scratch.main.bounds_1 as
with numbered as (
    select value, row_number() over (order by value) as ordinal
    from anon_scratch.main.values_1
),

levels as (
    select unnest(generate_series(1, max(joined))) as level
    from anon_scratch.main.merges_1
),

cut as (
    select
        v.value,
        l.level,
        coalesce(
            sum(case when m.joined > l.level then 1 else 0 end) over (
                partition by l.level order by m.leaf
                rows between unbounded preceding and 1 preceding
            ),
            0
        ) as place
    from numbered as v
    inner join anon_scratch.main.merges_1 as m on v.ordinal = m.ordinal
    cross join levels as l
)

select
    value,
    cast(level as integer) as level,
    cast(place as bigint) as place,
    min(value) over (partition by level, place) as lo,
    max(value) over (partition by level, place) as hi,
    cast(null as varchar) as label
from cut
