-- hierarchy_intervals_wide, hierarchy_1.cut_points: Intervals between given cut points, and the root above them. Each cut begins an interval; the last one ends with the data unless it is top-coded.
create or replace table anon_scratch.main.bounds_1 as
with marks as (
    select begins, lead(begins) over (order by begins) as past, row_number() over (order by begins) as place
    from (
        select unnest([cast(least(greatest(20, cast('-9223372036854775808' as hugeint)), cast('9223372036854775807' as hugeint)) as BIGINT), cast(least(greatest(40, cast('-9223372036854775808' as hugeint)), cast('9223372036854775807' as hugeint)) as BIGINT)]) as begins
    -- 5 lines of the template, 31119127
    from anon_scratch.main.values_1
-- 7 lines of the template, 1c1d1d79
        case when m.past is null then greatest(m.begins, e.highest) else cast(least(greatest((cast(m.past as hugeint) - 1), cast('-9223372036854775808' as hugeint)), cast('9223372036854775807' as hugeint)) as BIGINT) end as hi,
        case when m.past is null then NULL end as label
    from anon_scratch.main.values_1 as v
    inner join marks as m on v.value >= m.begins and (m.past is null or v.value < m.past)
    cross join ends as e
    union all
    select v.value, 0, e.lowest, cast(least(greatest((cast(e.first_mark as hugeint) - 1), cast('-9223372036854775808' as hugeint)), cast('9223372036854775807' as hugeint)) as BIGINT), NULL
    from anon_scratch.main.values_1 as v
    -- 9 lines of the template, df4c9be6
