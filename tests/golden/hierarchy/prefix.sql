-- hierarchy_1.affix: Prefix or suffix levels: each keeps fewer characters, the root keeps none. A value shorter than what a level keeps stays as it is.
create or replace table anon_scratch.main.hierarchy_1 as
with texts as (
    select value, cast(value as varchar) as text
    from anon_scratch.main.values_1
),

turned as (
    select
        value,
        text,
        text as path,
        max(length(text)) over () as longest
    from texts
),

ordered as (
    select *, row_number() over (order by path, text) as leaf
    from turned
),

extent as (
    select coalesce(max(longest), 0) as longest
    from turned
),

lengths as (
    select longest - taken as kept
    from (
        select longest, unnest(range(1, longest, 1)) as taken
        from extent
    ) as regular
    union all
    select 0
),

levels as (
    select kept, row_number() over (order by kept desc) as level
    from lengths
),

cut as (
    select o.*, l.kept, l.level, left(o.path, l.kept) as start
    from ordered as o
    cross join levels as l
)

select
    value,
    leaf,
    cast(level as integer) as level,
    min(leaf) over (partition by level, start) as node,
    case
        when kept = 0 then '*'
        when length(start) < kept then case when regexp_matches(text, '[,{}\[\]"]') or text in ('', '*', 'NULL') or left(text, 1) = ' ' or right(text, 1) = ' ' or right(text, 8) = ' or NULL' then '"' || replace(text, '"', '""') || '"' else text end
        else start || repeat('*', longest - kept)
    end as label,
    count(*) over (partition by level, start) as leaves,
    cast(null as VARCHAR) as lo,
    cast(null as VARCHAR) as hi
from cut;
