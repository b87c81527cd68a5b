-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    "age" as q1,
    cast("sex" as varchar) collate "binary" as q2,
    cast("zip" as varchar) collate "binary" as q3,
    cast("ill" as varchar) collate "binary" as s1,
    "who" as person,
    md5(concat(coalesce(cast(strlen(cast("who" as varchar)) as varchar), '-1'), ':', cast("who" as varchar), coalesce(cast(strlen(cast("ill" as varchar)) as varchar), '-1'), ':', cast("ill" as varchar))) as identity
from "anon_source"."main"."people";

-- checks of the source: Counts of the source that forbid going on, each under its number. (stops the run if it returns rows)
with counted as (
    select count(*) - count(person) as n1, case when count(*) > 1 and count(distinct s1) >= 0.9 * count(*) then count(distinct s1) else 0 end as n2
    from anon_scratch.main.snapshot
)
select 1 as number, cast(n1 as bigint) as n from counted where n1 > 0
union all
select 2 as number, cast(n2 as bigint) as n from counted where n2 > 0;

-- values of age: The distinct values of one column, with their row counts.
create or replace table anon_scratch.main.values_1 as
select q1 as value, count(*) as n
from anon_scratch.main.snapshot
where q1 is not null
group by 1;

-- values of sex: The distinct values of one column, with their row counts.
create or replace table anon_scratch.main.values_2 as
select q2 as value, count(*) as n
from anon_scratch.main.snapshot
where q2 is not null
group by 1;

-- values of zip: The distinct values of one column, with their row counts.
create or replace table anon_scratch.main.values_3 as
select q3 as value, count(*) as n
from anon_scratch.main.snapshot
where q3 is not null
group by 1;

-- hierarchy_1.guard_range: A range of values that is too wide to count its points in 64 bits. (stops the run if it returns rows)
select count(*) as distinct_values
from anon_scratch.main.values_1
having (max(cast(value as double)) - min(cast(value as double))) * 1 > 4000000000000000000
    or max(abs(cast(value as double))) * 1 > cast(1e37 as double);

-- hierarchy_1.grid_points: The points between the ends of the domain: where they begin, how many there are.
create or replace table anon_scratch.main.grid_1 as
with ends as (
    select min(cast(value as hugeint)) as lowest, max(cast(value as hugeint)) as highest
    from anon_scratch.main.values_1
)
select
    cast(lowest as hugeint) as origin,
    cast(1 as hugeint) as step,
    cast(highest - (lowest) + 1 as bigint) as points
from ends
where lowest is not null;

-- hierarchy_1.positions: Where each value lies on the grid, counted from 0.
create or replace table anon_scratch.main.positions_1 as
select v.value, v.n, cast(cast(value as hugeint) - g.origin as bigint) as position
from anon_scratch.main.values_1 as v
cross join anon_scratch.main.grid_1 as g;

-- hierarchy_1.halve: Conventional hierarchy: halve the domain while the halves are wide enough, left one larger. Every value descends on its own, so the work grows with the values and not with the domain.
create or replace table anon_scratch.main.intervals_1 as
with recursive halves (value, position, depth, first, past, width) as (
    select
        p.value, p.position, 0, cast(0 as bigint), g.points, cast(g.points as double)
    from anon_scratch.main.positions_1 as p
    cross join anon_scratch.main.grid_1 as g
    union all
    select
        value,
        position,
        depth + 1,
        case when position < middle then first else middle end,
        case when position < middle then middle else past end,
        width / 2
    from (
        select *, first + ((past - first + 1) >> 1) as middle
        from halves
    ) as wider
    where width / 2 >= CAST(1.0 AS DOUBLE)
        and width / 2 > 1
)

select value, cast(max(depth) over () - depth + 1 as integer) as level, first, past
from halves;

-- hierarchy_1.bounds: Intervals of grid points as bounds in the column's type.
create or replace table anon_scratch.main.bounds_1 as
select
    value,
    level,
    first as place,
    cast(least(greatest(first_at, cast('-2147483648' as hugeint)), cast('2147483647' as hugeint)) as INTEGER) as lo,
    cast(least(greatest((past_at - 1), cast('-2147483648' as hugeint)), cast('2147483647' as hugeint)) as INTEGER) as hi,
    cast(null as varchar) as label
from (
    select
        i.value,
        i.level,
        i.first,
        g.origin + i.first * g.step as first_at,
        g.origin + i.past * g.step as past_at
    from anon_scratch.main.intervals_1 as i
    cross join anon_scratch.main.grid_1 as g
) as placed;

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
        cast(cast(value as hugeint) - cast(lowest as hugeint) + 1 as bigint) as leaf,
        cast(cast(lo as hugeint) - cast(lowest as hugeint) + 1 as bigint) as node,
        cast(cast(hi as hugeint) - cast(lo as hugeint) + 1 as bigint) as leaves
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

-- hierarchy_2.guard_count: More distinct values than the builder takes. (stops the run if it returns rows)
select count(*) as distinct_values
from anon_scratch.main.values_2
having count(*) > 2000;

-- hierarchy_2.rarest: The distinct values in order with their counts: what rare values are merged by.
select row_number() over (order by n, value) as ordinal, n
from anon_scratch.main.values_2
order by ordinal;
-- then in Python, into merges_2: Merge the two rarest nodes until one node is left.

-- hierarchy_2.rare_members: Frequency hierarchy: the values in the order in which they were merged.
create or replace table anon_scratch.main.members_2 as
select cast(v.value as varchar) as value, m.leaf, m.joined
from (
    select value, row_number() over (order by n, value) as ordinal
    from anon_scratch.main.values_2
) as v
inner join anon_scratch.main.merges_2 as m on v.ordinal = m.ordinal;

-- hierarchy_2.sets: The hierarchy of values that are merged into sets: one row per value and level.
create or replace table anon_scratch.main.hierarchy_2 as
with levels as (
    select unnest(generate_series(1, max(joined))) as level
    from anon_scratch.main.members_2
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
    from anon_scratch.main.members_2 as m
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
from anon_scratch.main.values_2 as v
inner join cut as c on v.value = c.value
inner join nodes as n on c.level = n.level and c.place = n.place;

-- hierarchy_3.affix: Prefix or suffix levels: each keeps fewer characters, the root keeps none. A value shorter than what a level keeps stays as it is.
create or replace table anon_scratch.main.hierarchy_3 as
with texts as (
    select value, cast(value as varchar) as text
    from anon_scratch.main.values_3
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

-- codes of age: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_1 as
with valued as (
    select value, n from anon_scratch.main.values_1
),
ancestors as (
    select
        value,
        min(leaf) as leaf
        , max(node) filter (where level = 1) as a1
        , max(leaves) filter (where level = 1) as z1
        , max(node) filter (where level = 2) as a2
        , max(leaves) filter (where level = 2) as z2
        , max(node) filter (where level = 3) as a3
        , max(leaves) filter (where level = 3) as z3
        , max(node) filter (where level = 4) as a4
        , max(leaves) filter (where level = 4) as z4
    from anon_scratch.main.hierarchy_1
    group by value
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by v.value
        ) as code,
        count(*) over () as size
        , coalesce(h.a1, 0) as a1
        , coalesce(h.z1, 1) as z1
        , coalesce(h.a2, 0) as a2
        , coalesce(h.z2, 1) as z2
        , coalesce(h.a3, 0) as a3
        , coalesce(h.z3, 1) as z3
        , coalesce(h.a4, 0) as a4
        , coalesce(h.z4, 1) as z4
    from valued v
    left join ancestors h on h.value = v.value
)
select
    cast(code as integer) as code,
    value,
    cast(value as varchar) as label,
    n,
    cast(size as bigint) as size,
    -- halved, so that the width of a domain of doubles cannot overflow
    (cast(value as double) / 2 - min(cast(value as double)) over () / 2)
        / nullif(max(cast(value as double)) over () / 2 - min(cast(value as double)) over () / 2, 0) as share
    , a1
    , z1 / cast(max(z4) over () as double) as z1
    , a2
    , z2 / cast(max(z4) over () as double) as z2
    , a3
    , z3 / cast(max(z4) over () as double) as z3
    , a4
    , z4 / cast(max(z4) over () as double) as z4
from coded
order by code;

-- codes of sex: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_2 as
with valued as (
    select value, n from anon_scratch.main.values_2
),
ancestors as (
    select
        value,
        min(leaf) as leaf
        , max(node) filter (where level = 1) as a1
        , max(leaves) filter (where level = 1) as z1
    from anon_scratch.main.hierarchy_2
    group by value
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by h.leaf, v.value
        ) as code,
        count(*) over () as size
        , coalesce(h.a1, 0) as a1
        , coalesce(h.z1, 1) as z1
    from valued v
    left join ancestors h on h.value = v.value
)
select
    cast(code as integer) as code,
    value,
    case when regexp_matches(cast(value as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(value as varchar), '"', '""') || '"' else cast(value as varchar) end as label,
    n,
    cast(size as bigint) as size,
    (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0) as share
    , a1
    , z1 / cast(max(z1) over () as double) as z1
from coded
order by code;

-- codes of zip: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_3 as
with valued as (
    select value, n from anon_scratch.main.values_3
),
ancestors as (
    select
        value,
        min(leaf) as leaf
        , max(node) filter (where level = 1) as a1
        , max(leaves) filter (where level = 1) as z1
        , max(node) filter (where level = 2) as a2
        , max(leaves) filter (where level = 2) as z2
        , max(node) filter (where level = 3) as a3
        , max(leaves) filter (where level = 3) as z3
    from anon_scratch.main.hierarchy_3
    group by value
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by h.leaf, v.value
        ) as code,
        count(*) over () as size
        , coalesce(h.a1, 0) as a1
        , coalesce(h.z1, 1) as z1
        , coalesce(h.a2, 0) as a2
        , coalesce(h.z2, 1) as z2
        , coalesce(h.a3, 0) as a3
        , coalesce(h.z3, 1) as z3
    from valued v
    left join ancestors h on h.value = v.value
)
select
    cast(code as integer) as code,
    value,
    case when regexp_matches(cast(value as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(value as varchar), '"', '""') || '"' else cast(value as varchar) end as label,
    n,
    cast(size as bigint) as size,
    (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0) as share
    , a1
    , z1 / cast(max(z3) over () as double) as z1
    , a2
    , z2 / cast(max(z3) over () as double) as z2
    , a3
    , z3 / cast(max(z3) over () as double) as z3
from coded
order by code;

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
create or replace table anon_scratch.main.coded as
with placed as (
    select
        s.rowid as row_ref
        , (cast(d1.code as bigint) * 3 + d2.code) * 5 + d3.code as t1
        , d1.code as c1
        , d2.code as c2
        , d3.code as c3
        , s.identity
        , s.s1
        , s.person
    from anon_scratch.main.snapshot s
    join anon_scratch.main.domain_1 d1 on d1.value is not distinct from s.q1
    join anon_scratch.main.domain_2 d2 on d2.value is not distinct from s.q2
    join anon_scratch.main.domain_3 d3 on d3.value is not distinct from s.q3
),
copied as (
    select *, row_number() over (partition by t1, "identity") as copy
    from placed
),
drawn as (
    select
        md5_number(concat($secret, ':', t1, ':', "identity", ':', copy)) as draw
        , row_ref
        , c1
        , c2
        , c3
        , s1
        , person
    from copied
)
select *
from drawn;

-- one tuple per person: Persons whose rows differ in their quasi-identifiers. (stops the run if it returns rows)
select count(*) as persons
from (
    select person
    from anon_scratch.main.coded
    group by person
    having min(c1) <> max(c1) or min(c2) <> max(c2) or min(c3) <> max(c3)
)
having count(*) > 0;

-- numbers of persons: A number without meaning for every person, in secret-keyed order.
create or replace table anon_scratch.main.persons as
select person, row_number() over (order by md5_number(concat(hex(draw), ':person')), person) as number
from (select person, min(draw) as draw from anon_scratch.main.coded group by person);

-- enough rows: The table has fewer units (rows, or persons) than one class needs. (stops the run if it returns rows)
select count(distinct person) as units from anon_scratch.main.coded having count(distinct person) < 2;

-- levels of age: What every value of one column is published as at every level, and what that loses. Level 0 is the value itself; NULL stays NULL up to the root, which covers it too. Losses of a cell, in units of 10^-12: the normalized certainty penalty, the generalized loss metric, and the distortion. Bounds of nodes that have none of their own are those of the listed values, or of the source's.
create or replace table anon_scratch.main.recoding_1 as
with
extent as (
    select
        min(cast(value as double)) as first_place,
        max(cast(value as double)) as last_place
    from anon_scratch.main.domain_1
),
nodes as (
    select
        h.level,
        h.node,
        min(h.label) as label,
        count(*) as present,
        min(h.leaves) as leaves
        , min(h.lo) as lo
        , max(h.hi) as hi
        , (min(cast(hi as double)) - min(cast(lo as double))) as width
    from anon_scratch.main.hierarchy_1 h
    group by h.level, h.node
),
placed as (
    select
        n.*,
        n.level = 4 as whole
        , x.first_place
        , x.last_place
        , max(case when n.level = 4 then n.width end) over () as whole_width
    from nodes n
    cross join extent x
),
written as (
    select
        level,
        node,
        case
            when whole then '*'
            when lo = hi then cast(lo as varchar)
            else '[' || cast(lo as varchar) || ', ' || cast(hi as varchar) || ']'
        end as cell,
        lo,
        hi
        , case when whole then 1
            else coalesce((least(cast(hi as double), last_place) - greatest(cast(lo as double), first_place)) / nullif(last_place - first_place, 0), 0)
        end as ncp
        , case when level = 4 then 1 else coalesce(width / nullif(whole_width, 0), 0) end as distortion
    from placed
),
lost as (
    select
        level,
        node,
        cell as label
        , lo
        , hi
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "ncp"
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "glm"
        , cast(round(least(greatest("distortion", 0), 1) * 1000000000000) as bigint) * 4 as "distortion"
    from written
)
select d.code, 0 as level, cast(d.code as bigint) as node, d.label, d.code = 0 as nullable, d.value as lo, d.value as hi, cast(0 as bigint) as "ncp", cast(0 as bigint) as "glm", cast(0 as bigint) as "distortion"
from anon_scratch.main.domain_1 d
union all
select d.code, w.level, w.node, w.label, false, w.lo, w.hi, w."ncp", w."glm", w."distortion"
from (
    select
        code,
        unnest([1, 2, 3, 4]) as level,
        unnest([a1, a2, a3, a4]) as node
    from anon_scratch.main.domain_1
    where code > 0
) d
join lost w on w.level = d.level and w.node = d.node;

-- levels of sex: What every value of one column is published as at every level, and what that loses. Level 0 is the value itself; NULL stays NULL up to the root, which covers it too. Losses of a cell, in units of 10^-12: the normalized certainty penalty, the generalized loss metric, and the distortion. Bounds of nodes that have none of their own are those of the listed values, or of the source's.
create or replace table anon_scratch.main.recoding_2 as
with
extent as (
    select
        max(size) as size,
        count(*) filter (where code > 0) as present
    from anon_scratch.main.domain_2
),
nodes as (
    select
        h.level,
        h.node,
        min(h.label) as label,
        count(*) as present,
        min(h.leaves) as leaves
        , cast(min(leaves) - 1 as double) as width
    from anon_scratch.main.hierarchy_2 h
    group by h.level, h.node
),
placed as (
    select
        n.*,
        n.level = 1 or n.present = x.present as whole
        , n.leaves as covered
        , x.size
        , max(case when n.level = 1 then n.width end) over () as whole_width
    from nodes n
    cross join extent x
),
written as (
    select
        level,
        node,
        case when whole then '*' else label end as cell
        , case when whole then 1 when covered > 1 then covered / cast(size as double) else 0 end as ncp
        , case when whole then 1 when covered > 1 then (covered - 1) / cast(size - 1 as double) else 0 end as glm
        , case when level = 1 then 1 else coalesce(width / nullif(whole_width, 0), 0) end as distortion
    from placed
),
lost as (
    select
        level,
        node,
        cell as label
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "ncp"
        , cast(round(least(greatest("glm", 0), 1) * 1000000000000) as bigint) as "glm"
        , cast(round(least(greatest("distortion", 0), 1) * 1000000000000) as bigint) * 1 as "distortion"
    from written
)
select d.code, 0 as level, cast(d.code as bigint) as node, d.label, d.code = 0 as nullable, cast(0 as bigint) as "ncp", cast(0 as bigint) as "glm", cast(0 as bigint) as "distortion"
from anon_scratch.main.domain_2 d
union all
select d.code, w.level, w.node, w.label, false, w."ncp", w."glm", w."distortion"
from (
    select
        code,
        unnest([1]) as level,
        unnest([a1]) as node
    from anon_scratch.main.domain_2
    where code > 0
) d
join lost w on w.level = d.level and w.node = d.node;

-- levels of zip: What every value of one column is published as at every level, and what that loses. Level 0 is the value itself; NULL stays NULL up to the root, which covers it too. Losses of a cell, in units of 10^-12: the normalized certainty penalty, the generalized loss metric, and the distortion. Bounds of nodes that have none of their own are those of the listed values, or of the source's.
create or replace table anon_scratch.main.recoding_3 as
with
extent as (
    select
        max(size) as size,
        count(*) filter (where code > 0) as present
    from anon_scratch.main.domain_3
),
nodes as (
    select
        h.level,
        h.node,
        min(h.label) as label,
        count(*) as present,
        min(h.leaves) as leaves
        , cast(min(leaves) - 1 as double) as width
    from anon_scratch.main.hierarchy_3 h
    group by h.level, h.node
),
placed as (
    select
        n.*,
        n.level = 3 or n.present = x.present as whole
        , n.present as covered
        , x.size
        , max(case when n.level = 3 then n.width end) over () as whole_width
    from nodes n
    cross join extent x
),
written as (
    select
        level,
        node,
        case when whole then '*' else case when regexp_matches(cast(label as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(label as varchar), '"', '""') || '"' else cast(label as varchar) end end as cell
        , case when whole then 1 when covered > 1 then covered / cast(size as double) else 0 end as ncp
        , case when whole then 1 when covered > 1 then (covered - 1) / cast(size - 1 as double) else 0 end as glm
        , case when level = 3 then 1 else coalesce(width / nullif(whole_width, 0), 0) end as distortion
    from placed
),
lost as (
    select
        level,
        node,
        cell as label
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "ncp"
        , cast(round(least(greatest("glm", 0), 1) * 1000000000000) as bigint) as "glm"
        , cast(round(least(greatest("distortion", 0), 1) * 1000000000000) as bigint) * 3 as "distortion"
    from written
)
select d.code, 0 as level, cast(d.code as bigint) as node, d.label, d.code = 0 as nullable, cast(0 as bigint) as "ncp", cast(0 as bigint) as "glm", cast(0 as bigint) as "distortion"
from anon_scratch.main.domain_3 d
union all
select d.code, w.level, w.node, w.label, false, w."ncp", w."glm", w."distortion"
from (
    select
        code,
        unnest([1, 2, 3]) as level,
        unnest([a1, a2, a3]) as node
    from anon_scratch.main.domain_3
    where code > 0
) d
join lost w on w.level = d.level and w.node = d.node;

-- nodes above age: The nodes above every code of one attribute, and what they cost in whole numbers (GLM).
create or replace table anon_scratch.main.places_1 as
select
    code
    , max(node) filter (where level = 1) as a1
    , cast(max(glm) filter (where level = 1) // 1000 as bigint) as cost1
    , max(node) filter (where level = 2) as a2
    , cast(max(glm) filter (where level = 2) // 1000 as bigint) as cost2
    , max(node) filter (where level = 3) as a3
    , cast(max(glm) filter (where level = 3) // 1000 as bigint) as cost3
    , max(node) filter (where level = 4) as a4
    , cast(max(glm) filter (where level = 4) // 1000 as bigint) as cost4
from anon_scratch.main.recoding_1
group by code;

-- nodes above sex: The nodes above every code of one attribute, and what they cost in whole numbers (GLM).
create or replace table anon_scratch.main.places_2 as
select
    code
    , max(node) filter (where level = 1) as a1
    , cast(max(glm) filter (where level = 1) // 1000 as bigint) as cost1
from anon_scratch.main.recoding_2
group by code;

-- nodes above zip: The nodes above every code of one attribute, and what they cost in whole numbers (GLM).
create or replace table anon_scratch.main.places_3 as
select
    code
    , max(node) filter (where level = 1) as a1
    , cast(max(glm) filter (where level = 1) // 1000 as bigint) as cost1
    , max(node) filter (where level = 2) as a2
    , cast(max(glm) filter (where level = 2) // 1000 as bigint) as cost2
    , max(node) filter (where level = 3) as a3
    , cast(max(glm) filter (where level = 3) // 1000 as bigint) as cost3
from anon_scratch.main.recoding_3
group by code;

-- persons and their boxes: Every person as one unit with its box, numbered in secret-keyed order: the order in which seeds and residual persons are taken. Where rows of a person differ, c<i> is the lowest of their codes.
create or replace table anon_scratch.main.units as
with gathered as (
    select
        r.person,
        min(r.draw) as draw,
        count(*) as records
        , min(r.c1) as c1
        , min(r.c2) as c2
        , min(r.c3) as c3
        , min(d1.code) as leaf1
        , min(d1.a1) as node1_1
        , min(d1.a2) as node2_1
        , min(d1.a3) as node3_1
        , min(d1.a4) as node4_1
        , min(d1.cost1) as cost1_1
        , min(d1.cost2) as cost2_1
        , min(d1.cost3) as cost3_1
        , min(d1.cost4) as cost4_1
        , case when min(d1.code) = max(d1.code) then 0 when min(d1.a1) = max(d1.a1) then 1 when min(d1.a2) = max(d1.a2) then 2 when min(d1.a3) = max(d1.a3) then 3 when min(d1.a4) = max(d1.a4) then 4 else 4 end as level1
        , min(d2.code) as leaf2
        , min(d2.a1) as node1_2
        , min(d2.cost1) as cost1_2
        , case when min(d2.code) = max(d2.code) then 0 when min(d2.a1) = max(d2.a1) then 1 else 1 end as level2
        , min(d3.code) as leaf3
        , min(d3.a1) as node1_3
        , min(d3.a2) as node2_3
        , min(d3.a3) as node3_3
        , min(d3.cost1) as cost1_3
        , min(d3.cost2) as cost2_3
        , min(d3.cost3) as cost3_3
        , case when min(d3.code) = max(d3.code) then 0 when min(d3.a1) = max(d3.a1) then 1 when min(d3.a2) = max(d3.a2) then 2 when min(d3.a3) = max(d3.a3) then 3 else 3 end as level3
    from anon_scratch.main.coded r
    join anon_scratch.main.places_1 d1 on d1.code = r.c1
    join anon_scratch.main.places_2 d2 on d2.code = r.c2
    join anon_scratch.main.places_3 d3 on d3.code = r.c3
    group by r.person
)
select
    row_number() over (order by md5_number(concat(hex(draw), ':order')), person) as unit,
    cast(1 as bigint) as n,
    *,
    cast((case level1 when 0 then 0 when 1 then cost1_1 when 2 then cost2_1 when 3 then cost3_1 when 4 then cost4_1 end) + (case level2 when 0 then 0 when 1 then cost1_2 end) + (case level3 when 0 then 0 when 1 then cost1_3 when 2 then cost2_3 when 3 then cost3_3 end) as bigint) as loss
from gathered;

-- values of ill: Numbers for the values of one sensitive column, the most widespread first; 0 is NULL that does not count as a value.
create or replace table anon_scratch.main.held_values_1 as
select
    original,
    cast(case when original is null then 0
        else row_number() over (partition by original is null order by persons desc, original nulls last) end as integer) as value
from (
    select s1 as original, count(distinct person) as persons
    from anon_scratch.main.coded
    group by 1
);

-- who holds what: Who holds what: every (person, value) pair once, with the number of its records.
create or replace table anon_scratch.main.holdings as
select
    u.unit,
u.unit as person,
    1 as col,
    v.value,
    count(*) as n
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.person = r.person
join anon_scratch.main.held_values_1 v on v.original is not distinct from r.s1
group by all;

-- value sets: The value set of every person who has a value, S(p).
create or replace table anon_scratch.main.held_sets as
select unit, col, list(value order by value) as codes
from anon_scratch.main.holdings
where value > 0
group by unit, person, col;

-- persons with too many rows: Persons whose records, or pairs, are a larger share of the whole table than a class may have. (stops the run if it returns rows)
with of_persons as (
    select col, person, sum(n) as records, count(*) as pairs
    from anon_scratch.main.holdings
    group by col, person
),
shares as (
    select
        person, records,
        sum(records) over (partition by col) as all_records,
        cast(records as decimal(38, 0)) * 2 > 1 * sum(records) over (partition by col)
            or cast(pairs as decimal(38, 0)) * 2 > 1 * sum(pairs) over (partition by col) as crowds
    from of_persons
)
select count(distinct person), cast(max(records) as bigint), cast(max(all_records) as bigint)
from shares
where crowds
having count(*) > 0;

-- the table as one class: The whole table as one class fails a rule on persons, so every partition would. (stops the run if it returns rows)
with by_person as (
    select
        col, person,
        count(*) as pairs,
        sum(n) as records,
        count(*) filter (where value > 0) as known,
        min(value) filter (where value > 0) as one_value
    from anon_scratch.main.holdings
    group by col, person
),
by_value as (
    select col, count(*) as holders, sum(n) as records
    from anon_scratch.main.holdings
    where value > 0
    group by col, value
),
counted as (
    select
        p.col,
        count(*) as persons,
        count(*) filter (where p.known > 0) as known,
        cast(sum(p.pairs) as bigint) as pairs,
        cast(max(p.pairs) as bigint) as pairs_most,
        cast(sum(p.records) as bigint) as records,
        cast(max(p.records) as bigint) as records_most,
        count(distinct p.one_value) filter (where p.known = 1) as alone,
        coalesce(max(v.different), 0) as different,
        coalesce(max(v.known_pairs), 0) as known_pairs,
        coalesce(max(v.known_records), 0) as known_records,
        coalesce(max(v.widest), 0) as widest,
        coalesce(max(v.widest_records), 0) as widest_records
    from by_person p
    left join (
        select
            col,
            count(*) as different,
            cast(sum(holders) as bigint) as known_pairs,
            cast(sum(records) as bigint) as known_records,
            cast(max(holders) as bigint) as widest,
            cast(max(records) as bigint) as widest_records
        from by_value
        group by col
    ) v on v.col = p.col
    group by p.col
)
select col, known, different, widest from counted where (not (cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1)) or (not (cast(widest as decimal(38, 0)) * 10 <= cast(known_pairs as decimal(38, 0)) * 7 and cast(widest_records as decimal(38, 0)) * 10 <= cast(known_records as decimal(38, 0)) * 7)) or (different < 2 or known < 2 or known - widest + 1 < 2);

-- draw the order of columns: A secret-keyed number from which the order is drawn in which columns climb.
select cast(md5_number(concat(hex(min(draw)), ':ladder')) % 4611686018427387904 as bigint) from anon_scratch.main.units;
-- then in Python, into ladder: Which column climbs in which round: any that is not at its root, at random.

-- first round: The number of levels climbed so far.
create or replace table anon_scratch.main.climbing_round as
select cast(0 as bigint) as n;

-- no classes yet: An empty table of whole numbers.
create or replace table anon_scratch.main.members as
select cast(null as bigint) as unit, cast(null as bigint) as class_id where false;

-- no levels yet: An empty table of whole numbers.
create or replace table anon_scratch.main.class_levels as
select cast(null as bigint) as class_id, cast(null as bigint) as l1, cast(null as bigint) as l2, cast(null as bigint) as l3 where false;

-- loop: climb, at most 9 times, until the exit query counts 0
-- climb: The persons who are left, grouped by their nodes at the levels reached so far.
create or replace table anon_scratch.main.climbers as
with heights as (
    select count(*) filter (where attribute = 1) as l1, count(*) filter (where attribute = 2) as l2, count(*) filter (where attribute = 3) as l3
    from anon_scratch.main.ladder
    where step <= (select n from anon_scratch.main.climbing_round)
)
select min(u.unit) over (partition by case h.l1 when 1 then u.node1_1 when 2 then u.node2_1 when 3 then u.node3_1 when 4 then u.node4_1 else u.leaf1 end, case h.l2 when 1 then u.node1_2 else u.leaf2 end, case h.l3 when 1 then u.node1_3 when 2 then u.node2_3 when 3 then u.node3_3 else u.leaf3 end) as grp, u.unit
from anon_scratch.main.units u
cross join heights h
where u.unit not in (select unit from anon_scratch.main.members);

-- judge: Groups of units judged by counts: what holds, what fails; what is neither needs the exact search.
create or replace table anon_scratch.main.climbers_verdicts as
with sizes as (
    select a.grp, cast(sum(u.n) as bigint) as persons
    from anon_scratch.main.climbers a
    join anon_scratch.main.units u on u.unit = a.unit
    group by a.grp
)
,
pairs as materialized (
    select a.grp, h.col, h.person, h.value, h.n
    from anon_scratch.main.climbers a
    join anon_scratch.main.holdings h on h.unit = a.unit
),
by_person as (
    select
        grp, col, person,
        count(*) as pairs,
        sum(n) as records,
        min(value) filter (where value > 0) as one_value,
        count(*) filter (where value > 0) as known
    from pairs
    group by grp, col, person
),
of_persons as (
    select
        grp, col,
        cast(sum(pairs) as bigint) as pairs,
        cast(max(pairs) as bigint) as pairs_most,
        cast(sum(records) as bigint) as records,
        cast(max(records) as bigint) as records_most,
        count(distinct one_value) filter (where known = 1) as alone,
        count(*) filter (where known > 0) as known,
        count(*) as persons
    from by_person
    group by grp, col
),
by_value as (
    select grp, col, count(*) as holders, sum(n) as records
    from pairs
    where value > 0
    group by grp, col, value
),
of_values as (
    select
        grp, col,
        count(*) as different,
        cast(max(holders) as bigint) as widest
        , cast(sum(holders) as bigint) as known_pairs
        , cast(sum(records) as bigint) as known_records
        , cast(max(records) as bigint) as widest_records
        , cast(list_sum(max(holders, 1)) as bigint) as reach_1
    from by_value
    group by grp, col
),
counted as (
    select
        p.*
        , coalesce(v.different, 0) as different
        , coalesce(v.known_pairs, 0) as known_pairs
        , coalesce(v.known_records, 0) as known_records
        , coalesce(v.widest, 0) as widest
        , coalesce(v.widest_records, 0) as widest_records
        , coalesce(v.reach_1, 0) as reach_1
    from of_persons p
    left join of_values v on v.grp = p.grp and v.col = p.col
),
judged as (
    select grp, bool_and((cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (cast(widest as decimal(38, 0)) * 10 <= cast(known_pairs as decimal(38, 0)) * 7 and cast(widest_records as decimal(38, 0)) * 10 <= cast(known_records as decimal(38, 0)) * 7) and (known > 0 and (alone >= 2 or reach_1 < known))) as holds, bool_or((not (cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1)) or (not (cast(widest as decimal(38, 0)) * 10 <= cast(known_pairs as decimal(38, 0)) * 7 and cast(widest_records as decimal(38, 0)) * 10 <= cast(known_records as decimal(38, 0)) * 7)) or (different < 2 or known < 2 or known - widest + 1 < 2)) as fails
    from counted
    group by grp
)

select
    s.grp,
    s.persons >= 2 and j.holds as holds,
    s.persons < 2 or j.fails as fails
from sizes s
join judged j on j.grp = s.grp;

-- undecided groups: The persons' value sets of the groups that counts leave open, one list of sets per column.
select a.grp, s.col, list(distinct s.codes) as sets
from anon_scratch.main.climbers_verdicts v
join anon_scratch.main.climbers a on a.grp = v.grp
join anon_scratch.main.held_sets s on s.unit = a.unit
where not v.holds and not v.fails
group by a.grp, s.col;
-- then in Python, into climbers_searched: Whether fewer than l values meet everybody in a group, searched exactly.

-- classes leave: The groups that hold everything are classes.
insert into anon_scratch.main.members
select unit, grp from anon_scratch.main.climbers where grp in (select grp from anon_scratch.main.climbers_verdicts where holds union all select grp from anon_scratch.main.climbers_searched);

-- levels of these classes: The levels at which these classes are generalized.
insert into anon_scratch.main.class_levels
with heights as (
    select count(*) filter (where attribute = 1) as l1, count(*) filter (where attribute = 2) as l2, count(*) filter (where attribute = 3) as l3
    from anon_scratch.main.ladder
    where step <= (select n from anon_scratch.main.climbing_round)
)
select p.grp, h.l1, h.l2, h.l3
from (select grp from anon_scratch.main.climbers_verdicts where holds union all select grp from anon_scratch.main.climbers_searched) p
cross join heights h;

-- next round: One level more.
create or replace table anon_scratch.main.climbing_round as
select n + 1 as n from anon_scratch.main.climbing_round;

-- exit query of the loop: Whether enough persons are left for a class, and something is left to climb.
select count(*)
from anon_scratch.main.climbing_round
where n <= 8
    and (select count(*) from anon_scratch.main.units) - (select count(*) from anon_scratch.main.members) >= 2;
-- end of loop: climb

-- classes that hold: The classes as boxes of nodes, which residual persons may join.
create or replace table anon_scratch.main.closed_clusters as
with sizes as (
    select m.class_id, cast(sum(u.records) as bigint) as records
    from anon_scratch.main.members m
    join anon_scratch.main.units u on u.unit = m.unit
    group by m.class_id
),
boxes as (
    select
        0 as block, s.class_id as unit, s.records
, u.leaf1, u.node1_1, u.node2_1, u.node3_1, u.node4_1, u.cost1_1, u.cost2_1, u.cost3_1, u.cost4_1, u.leaf2, u.node1_2, u.cost1_2, u.leaf3, u.node1_3, u.node2_3, u.node3_3, u.cost1_3, u.cost2_3, u.cost3_3, v.l1 as level1, v.l2 as level2, v.l3 as level3
    from sizes s
    join anon_scratch.main.units u on u.unit = s.class_id
    join anon_scratch.main.class_levels v on v.class_id = s.class_id
)
select block, unit, records, cast((case level1 when 0 then 0 when 1 then cost1_1 when 2 then cost2_1 when 3 then cost3_1 when 4 then cost4_1 end) + (case level2 when 0 then 0 when 1 then cost1_2 end) + (case level3 when 0 then 0 when 1 then cost1_3 when 2 then cost2_3 when 3 then cost3_3 end) as bigint) as loss, leaf1, node1_1, node2_1, node3_1, node4_1, cost1_1, cost2_1, cost3_1, cost4_1, level1, leaf2, node1_2, cost1_2, level2, leaf3, node1_3, node2_3, node3_3, cost1_3, cost2_3, cost3_3, level3
from boxes;

-- residual persons: The residual persons.
create or replace table anon_scratch.main.residual as
select 0 as block, unit
from anon_scratch.main.units
where unit not in (select unit from anon_scratch.main.members);

-- number of residual persons: How many persons were residual, joined a class afterwards or not.
select count(*) as residual_persons from anon_scratch.main.residual;

-- clusters in reach: The clusters that a person without a class may try: the nearest ones as they stand now, of blocks that are not farther apart than there is time to compare. Blocks are numbered along the cuts.
create or replace table anon_scratch.main.reach as
with sizes as (
    select
        (select count(*) from anon_scratch.main.residual) as persons,
        (select count(*) from anon_scratch.main.closed_clusters) as clusters,
        (select greatest(max(block), 1) from anon_scratch.main.closed_clusters) as blocks
),
measured as (
    select
        x.unit,
        y.unit as grp,
        cast((x.records + y.records) * ((case greatest(x.level1, y.level1, case when x.leaf1 = y.leaf1 then 0 when x.node1_1 = y.node1_1 then 1 when x.node2_1 = y.node2_1 then 2 when x.node3_1 = y.node3_1 then 3 when x.node4_1 = y.node4_1 then 4 else 4 end) when 0 then 0 when 1 then x.cost1_1 when 2 then x.cost2_1 when 3 then x.cost3_1 when 4 then x.cost4_1 end) + (case greatest(x.level2, y.level2, case when x.leaf2 = y.leaf2 then 0 when x.node1_2 = y.node1_2 then 1 else 1 end) when 0 then 0 when 1 then x.cost1_2 end) + (case greatest(x.level3, y.level3, case when x.leaf3 = y.leaf3 then 0 when x.node1_3 = y.node1_3 then 1 when x.node2_3 = y.node2_3 then 2 when x.node3_3 = y.node3_3 then 3 else 3 end) when 0 then 0 when 1 then x.cost1_3 when 2 then x.cost2_3 when 3 then x.cost3_3 end)) - x.records * x.loss - y.records * y.loss as hugeint) as distance
    from anon_scratch.main.residual t
    join anon_scratch.main.units x on x.unit = t.unit
    join anon_scratch.main.closed_clusters y on abs(y.block - t.block) <= (
        select greatest(8, 20000000 * blocks // greatest(2 * persons * clusters, 1)) from sizes
    )
)
select unit, grp
from measured
qualify row_number() over (partition by unit order by distance, grp) <= 64;

-- loop: place persons elsewhere, at most 49 times, until the exit query counts 0
-- offers: The nearest clusters within the reach of every person without a class, with their distances.
create or replace table anon_scratch.main.offers as
with measured as (
    select
        x.unit,
        y.unit as grp,
        cast((x.records + y.records) * ((case greatest(x.level1, y.level1, case when x.leaf1 = y.leaf1 then 0 when x.node1_1 = y.node1_1 then 1 when x.node2_1 = y.node2_1 then 2 when x.node3_1 = y.node3_1 then 3 when x.node4_1 = y.node4_1 then 4 else 4 end) when 0 then 0 when 1 then x.cost1_1 when 2 then x.cost2_1 when 3 then x.cost3_1 when 4 then x.cost4_1 end) + (case greatest(x.level2, y.level2, case when x.leaf2 = y.leaf2 then 0 when x.node1_2 = y.node1_2 then 1 else 1 end) when 0 then 0 when 1 then x.cost1_2 end) + (case greatest(x.level3, y.level3, case when x.leaf3 = y.leaf3 then 0 when x.node1_3 = y.node1_3 then 1 when x.node2_3 = y.node2_3 then 2 when x.node3_3 = y.node3_3 then 3 else 3 end) when 0 then 0 when 1 then x.cost1_3 when 2 then x.cost2_3 when 3 then x.cost3_3 end)) - x.records * x.loss - y.records * y.loss as hugeint) as distance
    from anon_scratch.main.residual t
    join anon_scratch.main.units x on x.unit = t.unit
    join anon_scratch.main.reach r on r.unit = t.unit
    join anon_scratch.main.closed_clusters y on y.unit = r.grp
)
select row_number() over (order by unit, grp) as offer, *
from measured
qualify row_number() over (partition by unit order by distance, grp) <= 8;

-- offers to judge: Every offered cluster with the person who would join it, to be judged.
create or replace table anon_scratch.main.offered as
select o.offer as grp, m.unit
from anon_scratch.main.offers o
join anon_scratch.main.members m on m.class_id = o.grp
union all
select offer, unit from anon_scratch.main.offers;

-- judge: Groups of units judged by counts: what holds, what fails; what is neither needs the exact search.
create or replace table anon_scratch.main.offered_verdicts as
with sizes as (
    select a.grp, cast(sum(u.n) as bigint) as persons
    from anon_scratch.main.offered a
    join anon_scratch.main.units u on u.unit = a.unit
    group by a.grp
)
,
pairs as materialized (
    select a.grp, h.col, h.person, h.value, h.n
    from anon_scratch.main.offered a
    join anon_scratch.main.holdings h on h.unit = a.unit
),
by_person as (
    select
        grp, col, person,
        count(*) as pairs,
        sum(n) as records,
        min(value) filter (where value > 0) as one_value,
        count(*) filter (where value > 0) as known
    from pairs
    group by grp, col, person
),
of_persons as (
    select
        grp, col,
        cast(sum(pairs) as bigint) as pairs,
        cast(max(pairs) as bigint) as pairs_most,
        cast(sum(records) as bigint) as records,
        cast(max(records) as bigint) as records_most,
        count(distinct one_value) filter (where known = 1) as alone,
        count(*) filter (where known > 0) as known,
        count(*) as persons
    from by_person
    group by grp, col
),
by_value as (
    select grp, col, count(*) as holders, sum(n) as records
    from pairs
    where value > 0
    group by grp, col, value
),
of_values as (
    select
        grp, col,
        count(*) as different,
        cast(max(holders) as bigint) as widest
        , cast(sum(holders) as bigint) as known_pairs
        , cast(sum(records) as bigint) as known_records
        , cast(max(records) as bigint) as widest_records
        , cast(list_sum(max(holders, 1)) as bigint) as reach_1
    from by_value
    group by grp, col
),
counted as (
    select
        p.*
        , coalesce(v.different, 0) as different
        , coalesce(v.known_pairs, 0) as known_pairs
        , coalesce(v.known_records, 0) as known_records
        , coalesce(v.widest, 0) as widest
        , coalesce(v.widest_records, 0) as widest_records
        , coalesce(v.reach_1, 0) as reach_1
    from of_persons p
    left join of_values v on v.grp = p.grp and v.col = p.col
),
judged as (
    select grp, bool_and((cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (cast(widest as decimal(38, 0)) * 10 <= cast(known_pairs as decimal(38, 0)) * 7 and cast(widest_records as decimal(38, 0)) * 10 <= cast(known_records as decimal(38, 0)) * 7) and (known > 0 and (alone >= 2 or reach_1 < known))) as holds, bool_or((not (cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1)) or (not (cast(widest as decimal(38, 0)) * 10 <= cast(known_pairs as decimal(38, 0)) * 7 and cast(widest_records as decimal(38, 0)) * 10 <= cast(known_records as decimal(38, 0)) * 7)) or (different < 2 or known < 2 or known - widest + 1 < 2)) as fails
    from counted
    group by grp
)

select
    s.grp,
    s.persons >= 2 and j.holds as holds,
    s.persons < 2 or j.fails as fails
from sizes s
join judged j on j.grp = s.grp;

-- undecided groups: The persons' value sets of the groups that counts leave open, one list of sets per column.
select a.grp, s.col, list(distinct s.codes) as sets
from anon_scratch.main.offered_verdicts v
join anon_scratch.main.offered a on a.grp = v.grp
join anon_scratch.main.held_sets s on s.unit = a.unit
where not v.holds and not v.fails
group by a.grp, s.col;
-- then in Python, into offered_searched: Whether fewer than l values meet everybody in a group, searched exactly.

-- places: Where residual persons go: the nearest cluster that holds with them, unless suppressing costs less. One person per cluster at a time; the others wait for the next round.
create or replace table anon_scratch.main.placed as
with nearest as (
    select unit, min(distance * 17179869184 + grp) as choice
    from anon_scratch.main.offers
    where offer in (select grp from anon_scratch.main.offered_verdicts where holds union all select grp from anon_scratch.main.offered_searched)
    group by unit
)
select n.unit, cast(n.choice % 17179869184 as bigint) as grp
from nearest n
join anon_scratch.main.units u on u.unit = n.unit
where n.choice // 17179869184 <= u.records * cast(3000000000 as hugeint)
qualify row_number() over (partition by n.choice % 17179869184 order by n.unit) = 1;

-- join: Residual persons become members of the clusters they join.
insert into anon_scratch.main.members
select unit, grp from anon_scratch.main.placed;

-- clusters grow: The clusters after residual persons joined them.
create or replace table anon_scratch.main.closed_clusters as
with united as (
    select
        x.block, x.unit, x.records + y.records as records
        , x.leaf1 as leaf1
        , x.node1_1 as node1_1
        , x.node2_1 as node2_1
        , x.node3_1 as node3_1
        , x.node4_1 as node4_1
        , x.cost1_1 as cost1_1
        , x.cost2_1 as cost2_1
        , x.cost3_1 as cost3_1
        , x.cost4_1 as cost4_1
        , greatest(x.level1, y.level1, case when x.leaf1 = y.leaf1 then 0 when x.node1_1 = y.node1_1 then 1 when x.node2_1 = y.node2_1 then 2 when x.node3_1 = y.node3_1 then 3 when x.node4_1 = y.node4_1 then 4 else 4 end) as level1
        , x.leaf2 as leaf2
        , x.node1_2 as node1_2
        , x.cost1_2 as cost1_2
        , greatest(x.level2, y.level2, case when x.leaf2 = y.leaf2 then 0 when x.node1_2 = y.node1_2 then 1 else 1 end) as level2
        , x.leaf3 as leaf3
        , x.node1_3 as node1_3
        , x.node2_3 as node2_3
        , x.node3_3 as node3_3
        , x.cost1_3 as cost1_3
        , x.cost2_3 as cost2_3
        , x.cost3_3 as cost3_3
        , greatest(x.level3, y.level3, case when x.leaf3 = y.leaf3 then 0 when x.node1_3 = y.node1_3 then 1 when x.node2_3 = y.node2_3 then 2 when x.node3_3 = y.node3_3 then 3 else 3 end) as level3
    from anon_scratch.main.placed p
    join anon_scratch.main.closed_clusters x on x.unit = p.grp
    join anon_scratch.main.units y on y.unit = p.unit
)
select block, unit, records, loss, leaf1, node1_1, node2_1, node3_1, node4_1, cost1_1, cost2_1, cost3_1, cost4_1, level1, leaf2, node1_2, cost1_2, level2, leaf3, node1_3, node2_3, node3_3, cost1_3, cost2_3, cost3_3, level3
from anon_scratch.main.closed_clusters
where unit not in (select unit from united)
union all
select block, unit, records, cast((case level1 when 0 then 0 when 1 then cost1_1 when 2 then cost2_1 when 3 then cost3_1 when 4 then cost4_1 end) + (case level2 when 0 then 0 when 1 then cost1_2 end) + (case level3 when 0 then 0 when 1 then cost1_3 when 2 then cost2_3 when 3 then cost3_3 end) as bigint), leaf1, node1_1, node2_1, node3_1, node4_1, cost1_1, cost2_1, cost3_1, cost4_1, level1, leaf2, node1_2, cost1_2, level2, leaf3, node1_3, node2_3, node3_3, cost1_3, cost2_3, cost3_3, level3
from united;

-- next persons: The persons without a class who try again: who has an offer and no place yet waits for the one who took it; but no round may pass in vain.
create or replace table anon_scratch.main.residual as
select block, unit
from anon_scratch.main.residual
where unit not in (select unit from anon_scratch.main.placed)
    and unit in (select unit from anon_scratch.main.offers where offer in (select grp from anon_scratch.main.offered_verdicts where holds union all select grp from anon_scratch.main.offered_searched))
    and exists (select 1 from anon_scratch.main.placed);

-- exit query of the loop: How many residual persons wait.
select count(*) from anon_scratch.main.residual;
-- end of loop: place persons elsewhere

-- levels of classes: The levels of the classes after residual persons joined them.
create or replace table anon_scratch.main.class_levels as
select unit as class_id, level1 as l1, level2 as l2, level3 as l3
from anon_scratch.main.closed_clusters;

-- some class: Nobody is in a class. (stops the run if it returns rows)
select 1 where not exists (select 1 from anon_scratch.main.members);

-- cells of classes: What every class publishes at its levels, and its number in secret-keyed order. A class's units share one node per column, and NULL and all values share the root, so any of its units tells.
create or replace table anon_scratch.main.cells as
with classes as (
    select
        m.class_id,
        cast(sum(u.n) as bigint) as n,
        min(u.draw) as draw
        , min(u.c1) as c1
        , min(u.c2) as c2
        , min(u.c3) as c3
    from anon_scratch.main.members m
    join anon_scratch.main.units u on u.unit = m.unit
    group by m.class_id
),
numbers as (
    select class_id, row_number() over (order by md5_number(concat(hex(draw), ':class')), class_id) as number
    from classes
)
select
    b.class_id,
    o.number,
    b.n
    , r1.label || case when r1.nullable then ' or NULL' else '' end as cell1
    , r2.label || case when r2.nullable then ' or NULL' else '' end as cell2
    , r3.label || case when r3.nullable then ' or NULL' else '' end as cell3
from classes b
join numbers o on o.class_id = b.class_id
join anon_scratch.main.class_levels v on v.class_id = b.class_id
-- every class has its cells; left joins keep this order, which is quicker than finding the best one
left join anon_scratch.main.recoding_1 r1 on r1.code = b.c1 and r1.level = v.l1
left join anon_scratch.main.recoding_2 r2 on r2.code = b.c2 and r2.level = v.l2
left join anon_scratch.main.recoding_3 r3 on r3.code = b.c3 and r3.level = v.l3;

-- write the release: The release: every published row with the cells of its class, shuffled by its draw.
create or replace table anon_scratch.main.staged as
select
    c.number as "class_id",
    p.number as "person_id",
    c.cell1 as "age",
    c.cell2 as "sex",
    c.cell3 as "zip",
    r.s1 as "ill"
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.person = r.person
join anon_scratch.main.members m on m.unit = u.unit
join anon_scratch.main.cells c on c.class_id = m.class_id
join anon_scratch.main.persons p on p.person = r.person
order by r.draw;
