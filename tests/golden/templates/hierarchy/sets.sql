-- full_domain_distortion, hierarchy_1.sets: The hierarchy of values that are merged into sets: one row per value and level.
create or replace table anon_scratch.main.hierarchy_1 as
with levels as (
    select unnest(generate_series(1, max(joined))) as level
    from anon_scratch.main.members_1
),

cut as (
    select
        try_cast(m.value as INTEGER) as value,
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
            when count(*) = 1 then min(case when regexp_matches(text, '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(text, '"', '""') || '"' else text end)
            else '{' || string_agg(case when regexp_matches(text, '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(text, '"', '""') || '"' else text end, ', ' order by text) || '}'
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
    cast(null as INTEGER) as lo,
    cast(null as INTEGER) as hi
from anon_scratch.main.values_1 as v
inner join cut as c on v.value = c.value
inner join nodes as n on c.level = n.level and c.place = n.place
