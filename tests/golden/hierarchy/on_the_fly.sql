-- hierarchy_1.merge_values: The distinct values as numbers in order, with their counts: what neighbours are merged by.
select row_number() over (order by value) as ordinal, cast(value as hugeint) as centre, n
from anon_scratch.main.values_1
order by ordinal;
-- then in Python, into merges_1: Merge the closest neighbours until one node is left.

-- hierarchy_1.merged: On-the-fly hierarchy: the range of each value's node at every level.
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
from cut;

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
        dense_rank() over (order by b.value) as leaf
    from anon_scratch.main.bounds_1 as b
    cross join extent as e
)

select
    value,
    leaf,
    level,
    min(leaf) over (partition by level, place) as node,
    case
        when level = top then '*'
        when label is not null then label
        when cast(lo as varchar) = cast(hi as varchar) then cast(lo as varchar)
        else '[' || cast(lo as varchar) || ', ' || cast(hi as varchar) || ']'
    end as label,
    count(*) over (partition by level, place) as leaves,
    lo,
    hi
from placed;
