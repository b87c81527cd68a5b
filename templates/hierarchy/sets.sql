-- name: guard_listed_twice
-- Leaves that are the same value of the column, written in two ways: how many values.
-- parameters: typed: the listed text in the column's type
select count(*) as twice
from (
    select {{ typed }} as typed
    from {{ listed | ident }}
    where {{ typed }} is not null
    group by 1
    having count(distinct leaf) > 1
) as repeated
having count(*) > 0

-- name: guard_lacking
-- Values of the source that the hierarchy lacks: how many, of how many, in how many rows.
-- parameters: typed: the listed text in the column's type
select
    count(*) filter (where l.leaf is null) as lacking,
    count(*) as distinct_values,
    cast(sum(v.n) filter (where l.leaf is null) as bigint) as row_count
from {{ values | ident }} as v
left join (
    select {{ typed }} as typed, min(leaf) as leaf
    from {{ listed | ident }}
    group by 1
) as l on v.value = l.typed
having count(*) filter (where l.leaf is null) > 0

-- name: affix_levels
-- Prefix or suffix levels: how many characters each keeps, and the length of the longest value.
-- parameters: lengths: characters kept by each level, or none given;
-- step: characters that each level takes off
create or replace table {{ kept | ident }} as
with extent as (
    select coalesce(max(length(cast(value as varchar))), 0) as longest
    from {{ values | ident }}
),

lengths as (
{% if lengths %}
    select kept, longest
    from (
        select unnest([{{ lengths | lits | join }}]) as kept
    ) as given
    cross join extent
    where kept < longest
{% else %}
    select longest - taken as kept, longest
    from (
        select longest, unnest(range({{ step | lit }}, longest, {{ step | lit }})) as taken
        from extent
    ) as regular
{% endif %}
    union all
    select 0, longest
    from extent
)

select cast(row_number() over (order by kept desc) as integer) as level, kept, longest
from lengths

-- name: affix
-- Prefix or suffix levels: each keeps fewer characters, the root keeps none.
-- A value shorter than what a level keeps stays as it is.
-- parameters: suffix: keep the end
create or replace table {{ hierarchy | ident }} as
with texts as (
    select value, cast(value as varchar) as text
    from {{ values | ident }}
),

turned as (
    select
        value,
        text,
    {% if suffix %}
        -- by code points: reverse() keeps grapheme clusters together, substring() does not
        array_to_string(
            list_transform(
                range(1, length(text) + 1),
                lambda i: substring(text, length(text) + 1 - i, 1)
            ),
            ''
        ) as path
    {% else %}
        text as path
    {% endif %}
    from texts
),

ordered as (
    select *, row_number() over (order by path, text) as leaf
    from turned
),

cut as (
    select o.*, l.kept, l.level, l.longest, left(o.path, l.kept) as start
    from ordered as o
    cross join {{ kept | ident }} as l
)

select
    value,
    leaf,
    cast(level as integer) as level,
    min(leaf) over (partition by level, start) as node,
    case
        when kept = 0 then '*'
        when length(start) < kept then text
    {% if suffix %}
        else repeat('*', longest - kept) || right(text, kept)
    {% else %}
        else start || repeat('*', longest - kept)
    {% endif %}
    end as label,
    count(*) over (partition by level, start) as leaves,
    cast(null as {{ sql_type }}) as lo,
    cast(null as {{ sql_type }}) as hi
from cut

-- name: merge_values
-- The distinct values as numbers in order, with their counts: the input for merging neighbours.
-- parameters: centre: the value as a number
select row_number() over (order by value) as ordinal, {{ centre }} as centre, n
from {{ values | ident }}
order by ordinal

-- name: merged
-- On-the-fly hierarchy: the range of each value's node at every level.
-- source: Campan and Cooper 2010
create or replace table {{ bounds | ident }} as
with numbered as (
    select value, row_number() over (order by value) as ordinal
    from {{ values | ident }}
),

levels as (
    select unnest(generate_series(1, max(joined))) as level
    from {{ merges | ident }}
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
    inner join {{ merges | ident }} as m on v.ordinal = m.ordinal
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

-- name: guard_count
-- More distinct values than the builder takes.
-- parameters: most: the most values
select count(*) as distinct_values
from {{ values | ident }}
having count(*) > {{ most }}

-- name: rarest
-- The distinct values in order with their counts: the input for merging rare values.
select row_number() over (order by n, value) as ordinal, n
from {{ values | ident }}
order by ordinal

-- name: rare_members
-- Frequency hierarchy: the values in the order in which they were merged.
create or replace table {{ members | ident }} as
select cast(v.value as varchar) as value, m.leaf, m.joined
from (
    select value, row_number() over (order by n, value) as ordinal
    from {{ values | ident }}
) as v
inner join {{ merges | ident }} as m on v.ordinal = m.ordinal

-- name: sets
-- The hierarchy of values that are merged into sets: one row per value and level.
-- parameters: typed: the member's text in the column's type; exact: how a member is published
create or replace table {{ hierarchy | ident }} as
with levels as (
    select unnest(generate_series(1, max(joined))) as level
    from {{ members | ident }}
),

cut as (
    select
        {{ typed }} as value,
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
    from {{ members | ident }} as m
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
            when count(*) = 1 then min({{ exact }})
            else '{' || string_agg({{ exact }}, ', ' order by text) || '}'
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
    cast(null as {{ sql_type }}) as lo,
    cast(null as {{ sql_type }}) as hi
from {{ values | ident }} as v
inner join cut as c on v.value = c.value
inner join nodes as n on c.level = n.level and c.place = n.place
