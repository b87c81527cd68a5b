-- hierarchy_1.count_values: How many distinct values the hierarchy has to cover.
select count(*) as distinct_values
from anon_scratch.main.values_1;
-- then in Python, into members_1: The values in the order in which the policy lists them.

-- hierarchy_1.guard_listed_twice: Leaves that are the same value of the column, written in two ways: how many values. (stops the run if it returns rows)
select count(*) as twice
from (
    select value as typed
    from anon_scratch.main.members_1
    where value is not null
    group by 1
    having count(distinct leaf) > 1
) as repeated
having count(*) > 0;

-- hierarchy_1.guard_lacking: Values of the source that the hierarchy lacks: how many, of how many, in how many rows. (stops the run if it returns rows)
select
    count(*) filter (where l.leaf is null) as lacking,
    count(*) as distinct_values,
    cast(sum(v.n) filter (where l.leaf is null) as bigint) as row_count
from anon_scratch.main.values_1 as v
left join (
    select value as typed, min(leaf) as leaf
    from anon_scratch.main.members_1
    group by 1
) as l on v.value = l.typed
having count(*) filter (where l.leaf is null) > 0;

-- hierarchy_1.sets: The hierarchy of values that are merged into sets: one row per value and level.
create or replace table anon_scratch.main.hierarchy_1 as
with levels as (
    select unnest(generate_series(1, max(joined))) as level
    from anon_scratch.main.members_1
),

cut as (
    select
        m.value as value,
        m.value as text,
        m.leaf,
        l.level,
        coalesce(
            sum(case when m.joined > l.level then 1 else 0 end) over (
                partition by l.level order by m.leaf
                rows between unbounded preceding and 1 preceding
            ),
            0
        ) as place
    from anon_scratch.main.members_1 as m
    cross join levels as l
),

nodes as (
    select
        level,
        place,
        min(leaf) as node,
        count(*) as leaves,
        case
            when level = (select max(level) from levels) then '*'
            when count(*) = 1 then min(case when regexp_matches(text, '[,{}\[\]"]') or text in ('', '*', 'NULL') or left(text, 1) = ' ' or right(text, 1) = ' ' or right(text, 8) = ' or NULL' then '"' || replace(text, '"', '""') || '"' else text end)
            else '{' || string_agg(case when regexp_matches(text, '[,{}\[\]"]') or text in ('', '*', 'NULL') or left(text, 1) = ' ' or right(text, 1) = ' ' or right(text, 8) = ' or NULL' then '"' || replace(text, '"', '""') || '"' else text end, ', ' order by text) || '}'
        end as label
    from cut
    group by level, place
)

select
    v.value,
    c.leaf,
    cast(c.level as integer) as level,
    n.node,
    n.label,
    n.leaves,
    cast(null as VARCHAR) as lo,
    cast(null as VARCHAR) as hi
from anon_scratch.main.values_1 as v
inner join cut as c on v.value = c.value
inner join nodes as n on c.level = n.level and c.place = n.place;
