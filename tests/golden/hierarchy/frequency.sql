-- hierarchy_1.guard_count: More distinct values than the builder takes. (stops the run if it returns rows)
select count(*) as distinct_values
from anon_scratch.main.values_1
having count(*) > 2000;

-- hierarchy_1.rarest: The distinct values in order with their counts: what rare values are merged by.
select row_number() over (order by n, value) as ordinal, n
from anon_scratch.main.values_1
order by ordinal;
-- then in Python, into merges_1: Merge the two rarest nodes until one node is left.

-- hierarchy_1.rare_members: Frequency hierarchy: the values in the order in which they were merged.
create or replace table anon_scratch.main.members_1 as
select cast(v.value as varchar) as value, m.leaf, m.joined
from (
    select value, row_number() over (order by n, value) as ordinal
    from anon_scratch.main.values_1
) as v
inner join anon_scratch.main.merges_1 as m on v.ordinal = m.ordinal;

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
