-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    "age" as q1,
    "born" as q2,
    cast("zip" as varchar) collate "binary" as q3,
    cast("sex" as varchar) collate "binary" as q4,
    cast("ill" as varchar) collate "binary" as s1,
    cast("ward" as varchar) collate "binary" as k1,
    md5(concat(coalesce(cast(strlen(cast("visit" as varchar)) as varchar), '-1'), ':', cast("visit" as varchar), coalesce(cast(strlen(cast("patient" as varchar)) as varchar), '-1'), ':', cast("patient" as varchar), coalesce(cast(strlen(cast("hide" as varchar)) as varchar), '-1'), ':', cast("hide" as varchar), coalesce(cast(strlen(cast("ill" as varchar)) as varchar), '-1'), ':', cast("ill" as varchar), coalesce(cast(strlen(cast("cost" as varchar)) as varchar), '-1'), ':', cast("cost" as varchar), coalesce(cast(strlen(cast("ward" as varchar)) as varchar), '-1'), ':', cast("ward" as varchar))) as identity,
    case when "patient" is not null then hash("patient") end as h0
from "anon_source"."main"."people";

-- checks of the source: Counts of the source that forbid going on, each under its number. (stops the run if it returns rows)
with counted as (
    select count(*) filter (where isinf(q2)) as n1, case when count(*) > 1 and count(distinct k1) >= 0.9 * count(*) then count(distinct k1) else 0 end as n2, case when count(*) > 1 and count(distinct s1) >= 0.9 * count(*) then count(distinct s1) else 0 end as n3
    from anon_scratch.main.snapshot
)
select 1 as number, cast(n1 as bigint) as n from counted where n1 > 0
union all
select 2 as number, cast(n2 as bigint) as n from counted where n2 > 0
union all
select 3 as number, cast(n3 as bigint) as n from counted where n3 > 0;

-- remarks on the source: How often a condition of the policy is NULL, and how often values of key-like columns repeat.
select
    k0.different as "different_values.patient",
    k0.known as "known_values.patient",
    k0.most as "most_rows.patient"
from
    (
        select
            count(*) as different,
            cast(coalesce(sum(n), 0) as bigint) as known,
            coalesce(max(n), 0) as most
        from (
            select count(*) as n
            from anon_scratch.main.snapshot
            where h0 is not null
            group by h0
        ) as repeats
    ) as k0;

-- values of age: The distinct values of one column, with their row counts.
create or replace table anon_scratch.main.values_1 as
select q1 as value, count(*) as n
from anon_scratch.main.snapshot
where q1 is not null
group by 1;

-- values of born: The distinct values of one column, with their row counts.
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

-- values of sex: The distinct values of one column, with their row counts.
create or replace table anon_scratch.main.values_4 as
select q4 as value, count(*) as n
from anon_scratch.main.snapshot
where q4 is not null
group by 1;

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

-- read the population: The population read once: its distinct quasi-identifiers, with how many members have them.
create or replace table anon_scratch.main.population as
select
    "age" as p1,
    "born" as p2,
    cast("zip" as varchar) collate "binary" as p3,
    cast("sex" as varchar) collate "binary" as p4,
count(*) as members
from "anon_source"."main"."people"
group by all;

-- codes of age: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_1 as
with valued as (
    select value, n from anon_scratch.main.values_1
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by v.value
        ) as code,
        count(*) over () as size
    from valued v
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
from coded
order by code;

-- codes of born: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_2 as
with valued as (
    select value, n from anon_scratch.main.values_2
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by v.value
        ) as code,
        count(*) over () as size
    from valued v
)
select
    cast(code as integer) as code,
    value,
    cast(value as varchar) as label,
    n,
    cast(size as bigint) as size,
    cast(date_diff('day', min(value) over (), value) as double)
        / nullif(date_diff('day', min(value) over (), max(value) over ()), 0) as share
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
        , max(node) filter (where level = 4) as a4
        , max(leaves) filter (where level = 4) as z4
        , max(node) filter (where level = 5) as a5
        , max(leaves) filter (where level = 5) as z5
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
        , coalesce(h.a4, 0) as a4
        , coalesce(h.z4, 1) as z4
        , coalesce(h.a5, 0) as a5
        , coalesce(h.z5, 1) as z5
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
    , z1 / cast(max(z5) over () as double) as z1
    , a2
    , z2 / cast(max(z5) over () as double) as z2
    , a3
    , z3 / cast(max(z5) over () as double) as z3
    , a4
    , z4 / cast(max(z5) over () as double) as z4
    , a5
    , z5 / cast(max(z5) over () as double) as z5
from coded
order by code;

-- codes of sex: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_4 as
with valued as (
    select value, n from anon_scratch.main.values_4
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by v.n desc, v.value
        ) as code,
        count(*) over () as size
    from valued v
)
select
    cast(code as integer) as code,
    value,
    case when regexp_matches(cast(value as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(value as varchar), '"', '""') || '"' else cast(value as varchar) end as label,
    n,
    cast(size as bigint) as size,
    (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0) as share
from coded
order by code;

-- values as counted: Columns that have more values than were counted for the plan, by number, and how many more. (stops the run if it returns rows)
select 1 as number, max(code) - 9 as n from anon_scratch.main.domain_1 having max(code) > 9
union all
select 2 as number, max(code) - 7 as n from anon_scratch.main.domain_2 having max(code) > 7
union all
select 3 as number, max(code) - 8 as n from anon_scratch.main.domain_3 having max(code) > 8
union all
select 4 as number, max(code) - 2 as n from anon_scratch.main.domain_4 having max(code) > 2;

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
create or replace table anon_scratch.main.coded as
with placed as (
    select
        s.rowid as row_ref
        , ((cast(d1.code as bigint) * 8 + d2.code) * 9 + d3.code) * 3 + d4.code as t1
        , s.identity
        , s.s1
        , s.k1
    from anon_scratch.main.snapshot s
    join anon_scratch.main.domain_1 d1 on d1.value is not distinct from s.q1
    join anon_scratch.main.domain_2 d2 on d2.value is not distinct from s.q2
    join anon_scratch.main.domain_3 d3 on d3.value is not distinct from s.q3
    join anon_scratch.main.domain_4 d4 on d4.value is not distinct from s.q4
),
copied as (
    select *, row_number() over (partition by t1, "identity") as copy
    from placed
),
drawn as (
    select
        md5_number(concat($secret, ':', t1, ':', "identity", ':', copy)) as draw
        , row_ref
        , t1
        , s1
        , k1
    from copied
)
select *
from drawn;

-- enough rows: The table has fewer units (rows, or persons) than one class needs. (stops the run if it returns rows)
select count(*) as units from anon_scratch.main.coded having count(*) < 1;

-- distinct tuples: The distinct quasi-identifier tuples with their counts: what is partitioned instead of rows.
create or replace table anon_scratch.main.units as
with grouped as (
    select t1, count(*) as n, min(draw) as draw
    from anon_scratch.main.coded
    group by t1
)
select row_number() over (order by t1) as unit, *, cast(t1 // 216 as integer) as c1, cast((t1 // 27) % 8 as integer) as c2, cast((t1 // 3) % 9 as integer) as c3, cast((t1) % 3 as integer) as c4
from grouped;

-- population in the domain of age: Where the population's values of one column stand in the domain of the table.
create or replace table anon_scratch.main.population_places_1 as
with members as (
    select distinct p1 as value from anon_scratch.main.population
),
known as (
    select * from anon_scratch.main.domain_1 where code > 0
)
select
    m.value,
    case when m.value is null then 0 when k.code is null then 1 when m.value = k.value then 2 * k.code else 2 * k.code + 1 end as place
from members m
asof left join known k on m.value >= k.value;

-- population in the domain of born: Where the population's values of one column stand in the domain of the table.
create or replace table anon_scratch.main.population_places_2 as
with members as (
    select distinct p2 as value from anon_scratch.main.population
),
known as (
    select * from anon_scratch.main.domain_2 where code > 0
)
select
    m.value,
    case when m.value is null then 0 when k.code is null then 1 when m.value = k.value then 2 * k.code else 2 * k.code + 1 end as place
from members m
asof left join known k on m.value >= k.value;

-- population in the domain of zip: Where the population's values of one column stand in the domain of the table.
create or replace table anon_scratch.main.population_places_3 as
with members as (
    select distinct p3 as value from anon_scratch.main.population
),
known as (
    select * from anon_scratch.main.domain_3 where code > 0
)
select
    m.value,
    case when m.value is null then 0 else coalesce(k.code, -2) end as place
    , k.a1
    , k.a2
    , k.a3
    , k.a4
    , k.a5
from members m
left join known k on k.value = m.value;

-- population in the domain of sex: Where the population's values of one column stand in the domain of the table.
create or replace table anon_scratch.main.population_places_4 as
with members as (
    select distinct p4 as value from anon_scratch.main.population
),
known as (
    select * from anon_scratch.main.domain_4 where code > 0
)
select
    m.value,
    case when m.value is null then 0 else coalesce(k.code, -2) end as place
from members m
left join known k on k.value = m.value;

-- tuples of the population: The population's tuples as places in the domains of the table.
create or replace table anon_scratch.main.population_tuples as
select
    row_number() over () as tuple,
    p.members
    , p1.place as p1
    , p2.place as p2
    , p3.place as p3
    , p3.a1 as p3_1
    , p3.a2 as p3_2
    , p3.a3 as p3_3
    , p3.a4 as p3_4
    , p3.a5 as p3_5
    , p4.place as p4
from anon_scratch.main.population p
join anon_scratch.main.population_places_1 p1 on p1.value is not distinct from p.p1
join anon_scratch.main.population_places_2 p2 on p2.value is not distinct from p.p2
join anon_scratch.main.population_places_3 p3 on p3.value is not distinct from p.p3
join anon_scratch.main.population_places_4 p4 on p4.value is not distinct from p.p4;

-- the table in the population: The whole table as one class, where it does not hold the models of the population. Cutting only loses members of the population, so what fails here fails in every partition. (stops the run if it returns rows)
with everyone as (select 1 as grp, unit from anon_scratch.main.units),
extent as (
    select
        g.grp
        , min(e.c1) filter (where e.c1 > 0) as lo1
        , max(e.c1) filter (where e.c1 > 0) as hi1
        , bool_or(e.c1 = 0) as nil1
        , min(e.c2) filter (where e.c2 > 0) as lo2
        , max(e.c2) filter (where e.c2 > 0) as hi2
        , bool_or(e.c2 = 0) as nil2
        , min(e.c3) filter (where e.c3 > 0) as lo3
        , max(e.c3) filter (where e.c3 > 0) as hi3
        , bool_or(e.c3 = 0) as nil3
        , min(e.c4) filter (where e.c4 > 0) as lo4
        , max(e.c4) filter (where e.c4 > 0) as hi4
        , bool_or(e.c4 = 0) as nil4
        , list(distinct e.c4) as set4
        , count(distinct e.c4) filter (where e.c4 > 0) as size4
    from "everyone" g
    join anon_scratch.main.units e on e.unit = g.unit
    group by g.grp
),
boxes as (
    select
        x.*
        , coalesce(case
            when lo3 = hi3 then 0
            when lo3 = 1 and hi3 = 8 then 5
            when low3.a1 = high3.a1 then 1
            when low3.a2 = high3.a2 then 2
            when low3.a3 = high3.a3 then 3
            when low3.a4 = high3.a4 then 4
            when low3.a5 = high3.a5 then 5
            else 5
        end, 0) as level3
        , low3.a1 as node3_1
        , low3.a2 as node3_2
        , low3.a3 as node3_3
        , low3.a4 as node3_4
        , low3.a5 as node3_5
    from extent x
    left join anon_scratch.main.domain_3 low3 on low3.code = x.lo3
    left join anon_scratch.main.domain_3 high3 on high3.code = x.hi3
),
matched as (
    select
        (select cast(sum(n) as bigint) from anon_scratch.main.units) as n,
        cast(coalesce(sum(p.members) filter (where true and (p.p3 <> -2 or b.level3 = 5)), 0) as bigint) as sure,
        cast(coalesce(sum(p.members), 0) as bigint) as possible
    from boxes b
    join anon_scratch.main.population_tuples p on true
and coalesce(
    case
        when p.p1 = 0 then b.nil1
        else p.p1 between 2 * b.lo1 and 2 * b.hi1
    end,
    false
)
and coalesce(
    case
        when p.p2 = 0 then b.nil2
        else p.p2 between 2 * b.lo2 and 2 * b.hi2
    end,
    false
)
and coalesce(
    case
        when p.p3 = 0 then b.nil3
        when b.lo3 is null then false
        when b.level3 = 0 then p.p3 = b.lo3
        when b.level3 = 5 or p.p3 = -2 then true
        when b.level3 = 1 then p.p3_1 = b.node3_1
        when b.level3 = 2 then p.p3_2 = b.node3_2
        when b.level3 = 3 then p.p3_3 = b.node3_3
        when b.level3 = 4 then p.p3_4 = b.node3_4
        when b.level3 = 5 then p.p3_5 = b.node3_5
    end,
    false
)
and coalesce(
    case
        when p.p4 = 0 then b.nil4
        when b.size4 > 1 and b.size4 = 2 then true
        else list_contains(b.set4, p.p4)
    end,
    false
)

),
judged as (
    select m.*, (select cast(coalesce(sum(members), 0) as bigint) from anon_scratch.main.population_tuples) as members
    from matched m
)
select n, sure, members
from judged
where not ((sure >= 3) and (cast(n as hugeint) * 1 <= cast(sure as hugeint) * 1) and (cast(possible as hugeint) * 1 <= cast(n as hugeint) * 10) and sure = members);

-- places in the domains: The domains of all quasi-identifiers in one table, with a row for cells that are sensitive.
create or replace table anon_scratch.main.positions as
select 1 as attribute, code, share, size
, 0 as a1, 0 as z1, 0 as a2, 0 as z2, 0 as a3, 0 as z3, 0 as a4, 0 as z4, 0 as a5, 0 as z5
from anon_scratch.main.domain_1
union all
select 2 as attribute, code, share, size
, 0 as a1, 0 as z1, 0 as a2, 0 as z2, 0 as a3, 0 as z3, 0 as a4, 0 as z4, 0 as a5, 0 as z5
from anon_scratch.main.domain_2
union all
select 3 as attribute, code, share, size
, a1 as a1, z1 as z1, a2 as a2, z2 as z2, a3 as a3, z3 as z3, a4 as a4, z4 as z4, a5 as a5, z5 as z5
from anon_scratch.main.domain_3
union all
select 4 as attribute, code, share, size
, 0 as a1, 0 as z1, 0 as a2, 0 as z2, 0 as a3, 0 as z3, 0 as a4, 0 as z4, 0 as a5, 0 as z5
from anon_scratch.main.domain_4;

-- first classes: All units in their first classes, all of them open.
create or replace table anon_scratch.main.open_units as
select unit, 1 as class_id, 0 as level, false as closed, n, c1, c2, c3, c4
from anon_scratch.main.units;

-- no final classes yet: The empty table of final classes.
create or replace table anon_scratch.main.members as
select unit, class_id from anon_scratch.main.open_units where false;

-- population of the first class: The whole table as one class, and the tuples of the population that match it.
create or replace table anon_scratch.main.population_within as
with everyone as (select 1 as grp, unit from anon_scratch.main.units),
extent as (
    select
        g.grp
        , min(e.c1) filter (where e.c1 > 0) as lo1
        , max(e.c1) filter (where e.c1 > 0) as hi1
        , bool_or(e.c1 = 0) as nil1
        , min(e.c2) filter (where e.c2 > 0) as lo2
        , max(e.c2) filter (where e.c2 > 0) as hi2
        , bool_or(e.c2 = 0) as nil2
        , min(e.c3) filter (where e.c3 > 0) as lo3
        , max(e.c3) filter (where e.c3 > 0) as hi3
        , bool_or(e.c3 = 0) as nil3
        , min(e.c4) filter (where e.c4 > 0) as lo4
        , max(e.c4) filter (where e.c4 > 0) as hi4
        , bool_or(e.c4 = 0) as nil4
        , list(distinct e.c4) as set4
        , count(distinct e.c4) filter (where e.c4 > 0) as size4
    from "everyone" g
    join anon_scratch.main.units e on e.unit = g.unit
    group by g.grp
),
boxes as (
    select
        x.*
        , coalesce(case
            when lo3 = hi3 then 0
            when lo3 = 1 and hi3 = 8 then 5
            when low3.a1 = high3.a1 then 1
            when low3.a2 = high3.a2 then 2
            when low3.a3 = high3.a3 then 3
            when low3.a4 = high3.a4 then 4
            when low3.a5 = high3.a5 then 5
            else 5
        end, 0) as level3
        , low3.a1 as node3_1
        , low3.a2 as node3_2
        , low3.a3 as node3_3
        , low3.a4 as node3_4
        , low3.a5 as node3_5
    from extent x
    left join anon_scratch.main.domain_3 low3 on low3.code = x.lo3
    left join anon_scratch.main.domain_3 high3 on high3.code = x.hi3
)
select 1 as class_id, p.tuple
from boxes b
join anon_scratch.main.population_tuples p on true
and coalesce(
    case
        when p.p1 = 0 then b.nil1
        else p.p1 between 2 * b.lo1 and 2 * b.hi1
    end,
    false
)
and coalesce(
    case
        when p.p2 = 0 then b.nil2
        else p.p2 between 2 * b.lo2 and 2 * b.hi2
    end,
    false
)
and coalesce(
    case
        when p.p3 = 0 then b.nil3
        when b.lo3 is null then false
        when b.level3 = 0 then p.p3 = b.lo3
        when b.level3 = 5 or p.p3 = -2 then true
        when b.level3 = 1 then p.p3_1 = b.node3_1
        when b.level3 = 2 then p.p3_2 = b.node3_2
        when b.level3 = 3 then p.p3_3 = b.node3_3
        when b.level3 = 4 then p.p3_4 = b.node3_4
        when b.level3 = 5 then p.p3_5 = b.node3_5
    end,
    false
)
and coalesce(
    case
        when p.p4 = 0 then b.nil4
        when b.size4 > 1 and b.size4 = 2 then true
        else list_contains(b.set4, p.p4)
    end,
    false
);

-- loop: partition, at most 32 times, until the exit query counts 0
-- offer cuts: For every open class, its admissible cuts, the best first, to be judged in this order: the best of all classes together, then a few more of each, and so on.
create or replace table anon_scratch.main.offered_cuts as
with histogram as (
    select class_id, 1 as attribute, c1 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from anon_scratch.main.open_units
    where not closed
    group by class_id, c1
    union all
    select class_id, 2 as attribute, c2 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from anon_scratch.main.open_units
    where not closed
    group by class_id, c2
    union all
    select class_id, 3 as attribute, c3 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from anon_scratch.main.open_units
    where not closed
    group by class_id, c3
    union all
    select class_id, 4 as attribute, c4 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from anon_scratch.main.open_units
    where not closed
    group by class_id, c4
),
placed as (
    select h.class_id, h.attribute, h.code, h.level, h.n, h.units, p.share, p.size
, p.a1, p.z1, p.a2, p.z2, p.a3, p.z3, p.a4, p.z4, p.a5, p.z5
    from histogram h
    join anon_scratch.main.positions p on p.attribute = h.attribute and p.code = h.code
),
-- what has one value goes
spans as (
    select
        class_id, attribute,
        cast(sum(n) as bigint) as n_all,
        count(*) as values_all,
        min(code) as first_code,
        max(code) as last_code,
        min(share) as first_share,
        max(share) as last_share
    from placed
    group by class_id, attribute
    having count(*) > 1 and sum(n) >= 2
),
totals as (
    select
        s.*
        , f.a1 as first_a1, l.a1 as last_a1, l.z1 as last_z1
        , f.a2 as first_a2, l.a2 as last_a2, l.z2 as last_z2
        , f.a3 as first_a3, l.a3 as last_a3, l.z3 as last_z3
        , f.a4 as first_a4, l.a4 as last_a4, l.z4 as last_z4
        , f.a5 as first_a5, l.a5 as last_a5, l.z5 as last_z5
    from spans s
    join anon_scratch.main.positions f on f.attribute = s.attribute and f.code = s.first_code
    join anon_scratch.main.positions l on l.attribute = s.attribute and l.code = s.last_code
),
running as (
    select
        p.class_id, p.attribute, p.code, p.level, p.share, p.size, p.n, p.units,
        t.n_all, t.values_all, t.first_code, t.last_code, t.first_share, t.last_share,
        cast(sum(p.n) over below as bigint) as n_left,
        cast(sum(p.units) over below as bigint) as units_left,
        row_number() over below as values_left,
        case when p.code < t.last_code then lead(p.share) over below end as next_share
        , lead(p.code) over below as next_code
        , p.a1, p.z1
        , t.first_a1, t.last_a1, t.last_z1
        , case when p.code < t.last_code then lead(p.a1) over below end as next_a1
        , p.a2, p.z2
        , t.first_a2, t.last_a2, t.last_z2
        , case when p.code < t.last_code then lead(p.a2) over below end as next_a2
        , p.a3, p.z3
        , t.first_a3, t.last_a3, t.last_z3
        , case when p.code < t.last_code then lead(p.a3) over below end as next_a3
        , p.a4, p.z4
        , t.first_a4, t.last_a4, t.last_z4
        , case when p.code < t.last_code then lead(p.a4) over below end as next_a4
        , p.a5, p.z5
        , t.first_a5, t.last_a5, t.last_z5
        , case when p.code < t.last_code then lead(p.a5) over below end as next_a5
    from placed p
    join totals t on t.class_id = p.class_id and t.attribute = p.attribute
    window below as (partition by p.class_id, p.attribute order by p.code rows between unbounded preceding and current row)
),
scored as (
    select
        class_id, attribute, code, false as single, level, n_left, n_all,
        units_left,
        n_left as kept_left,
        n_all * case when attribute in (1, 2) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (3) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 when first_a4 = last_a4 then last_z4 when first_a5 = last_a5 then last_z5 else 1 end when attribute in (4) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - n_left * case when attribute in (1, 2) then case when first_code = 0 and code > 0 then (coalesce(share - first_share, 0) * (size - 1) + 1) / size else coalesce(share - first_share, 0) end when attribute in (3) then case when first_code = code then 0 when first_a1 = a1 then z1 when first_a2 = a2 then z2 when first_a3 = a3 then z3 when first_a4 = a4 then z4 when first_a5 = a5 then z5 else 1 end when attribute in (4) then case when values_left > 1 then values_left / cast(size as double) else 0 end end - (n_all - n_left) * case when attribute in (1, 2) then coalesce(last_share - next_share, 0) when attribute in (3) then case when next_code = last_code then 0 when next_a1 = last_a1 then last_z1 when next_a2 = last_a2 then last_z2 when next_a3 = last_a3 then last_z3 when next_a4 = last_a4 then last_z4 when next_a5 = last_a5 then last_z5 else 1 end when attribute in (4) then case when (values_all - values_left) > 1 then (values_all - values_left) / cast(size as double) else 0 end end as gain
    from running
    where n_left >= 1 and n_all - n_left >= 1 and code < last_code
    union all
    -- one value of a category against all others; the first and the last one are cuts above already
    select class_id, attribute, code, true, level, n, n_all, units, n, n_all * case when attribute in (1, 2) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (3) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 when first_a4 = last_a4 then last_z4 when first_a5 = last_a5 then last_z5 else 1 end when attribute in (4) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - (n_all - n) * case when attribute in (1, 2) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (3) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 when first_a4 = last_a4 then last_z4 when first_a5 = last_a5 then last_z5 else 1 end when attribute in (4) then case when (values_all - 1) > 1 then (values_all - 1) / cast(size as double) else 0 end end
    from running
    where attribute in (3, 4)
        and code > first_code and code < last_code
        and n >= 1 and n_all - n >= 1
        and level < 18
),
-- what saves nothing need not be judged
candidates as (
    select * from scored where cast(gain as decimal(18, 8)) > 0
),
allowed as (
    select
        class_id, attribute, code, single, level, units_left, kept_left, n_all,
        -- cuts by loss may peel values off one by one; late levels are cut in the middle instead
        case when level < 18 then cast(gain as decimal(18, 8)) else least(kept_left, n_all - kept_left) end as merit
    from candidates
),
numbered as (
    select
        class_id, attribute, code, single, units_left, kept_left, n_all,
        row_number() over (partition by class_id order by merit desc, attribute, code, single) as rank
    from allowed
)
select
    row_number() over (order by class_id, rank) as offer,
    *,
    case when rank <= 1 then 1 when rank <= 4 or rank * n_all <= 5000 then 2 when rank <= 16 or rank * n_all <= 50000 then 3 else 4 end as turn
from numbered;

-- loop: try cuts, at most 4 times, until the exit query counts 0
-- halves of cuts: Both halves of the cuts whose turn it is.
create or replace table anon_scratch.main.halves as
select
    2 * t.offer + case when
        case when t.single then case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 when 4 then o.c4 end = t.code else case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 when 4 then o.c4 end <= t.code end
        then 0 else 1 end as grp,
    o.unit
from anon_scratch.main.offered_cuts t
join anon_scratch.main.open_units o on o.class_id = t.class_id
where t.turn = 1;

-- judge: Groups of units judged by counts: what holds, what fails; what is neither needs the exact search.
create or replace table anon_scratch.main.halves_verdicts as
with sizes as (
    select a.grp, cast(sum(u.n) as bigint) as persons
    from anon_scratch.main.halves a
    join anon_scratch.main.units u on u.unit = a.unit
    group by a.grp
)

select
    s.grp,
    s.persons >= 1 as holds,
    s.persons < 1 as fails
from sizes s;

-- halves in the population: Which cuts leave halves that hold the models of the population.
create or replace table anon_scratch.main.population_compared as
with extent as (
    select
        g.grp
        , min(e.c1) filter (where e.c1 > 0) as lo1
        , max(e.c1) filter (where e.c1 > 0) as hi1
        , bool_or(e.c1 = 0) as nil1
        , min(e.c2) filter (where e.c2 > 0) as lo2
        , max(e.c2) filter (where e.c2 > 0) as hi2
        , bool_or(e.c2 = 0) as nil2
        , min(e.c3) filter (where e.c3 > 0) as lo3
        , max(e.c3) filter (where e.c3 > 0) as hi3
        , bool_or(e.c3 = 0) as nil3
        , min(e.c4) filter (where e.c4 > 0) as lo4
        , max(e.c4) filter (where e.c4 > 0) as hi4
        , bool_or(e.c4 = 0) as nil4
        , list(distinct e.c4) as set4
        , count(distinct e.c4) filter (where e.c4 > 0) as size4
    from anon_scratch.main.halves g
    join anon_scratch.main.units e on e.unit = g.unit
    group by g.grp
),
boxes as (
    select
        x.*
        , coalesce(case
            when lo3 = hi3 then 0
            when lo3 = 1 and hi3 = 8 then 5
            when low3.a1 = high3.a1 then 1
            when low3.a2 = high3.a2 then 2
            when low3.a3 = high3.a3 then 3
            when low3.a4 = high3.a4 then 4
            when low3.a5 = high3.a5 then 5
            else 5
        end, 0) as level3
        , low3.a1 as node3_1
        , low3.a2 as node3_2
        , low3.a3 as node3_3
        , low3.a4 as node3_4
        , low3.a5 as node3_5
    from extent x
    left join anon_scratch.main.domain_3 low3 on low3.code = x.lo3
    left join anon_scratch.main.domain_3 high3 on high3.code = x.hi3
),
sizes as (
    select a.grp, cast(sum(u.n) as bigint) as n
    from anon_scratch.main.halves a
    join anon_scratch.main.units u on u.unit = a.unit
    group by a.grp
),
pairs as materialized (
    select b.grp, t.offer, p.tuple, p.members, true and (p.p3 <> -2 or b.level3 = 5) as sure
    from boxes b
    join anon_scratch.main.offered_cuts t on t.offer = cast(floor(b.grp / 2) as bigint)
    join anon_scratch.main.population_within w on w.class_id = t.class_id
    join anon_scratch.main.population_tuples p on p.tuple = w.tuple and true
and coalesce(
    case
        when p.p1 = 0 then b.nil1
        else p.p1 between 2 * b.lo1 and 2 * b.hi1
    end,
    false
)
and coalesce(
    case
        when p.p2 = 0 then b.nil2
        else p.p2 between 2 * b.lo2 and 2 * b.hi2
    end,
    false
)
and coalesce(
    case
        when p.p3 = 0 then b.nil3
        when b.lo3 is null then false
        when b.level3 = 0 then p.p3 = b.lo3
        when b.level3 = 5 or p.p3 = -2 then true
        when b.level3 = 1 then p.p3_1 = b.node3_1
        when b.level3 = 2 then p.p3_2 = b.node3_2
        when b.level3 = 3 then p.p3_3 = b.node3_3
        when b.level3 = 4 then p.p3_4 = b.node3_4
        when b.level3 = 5 then p.p3_5 = b.node3_5
    end,
    false
)
and coalesce(
    case
        when p.p4 = 0 then b.nil4
        when b.size4 > 1 and b.size4 = 2 then true
        else list_contains(b.set4, p.p4)
    end,
    false
)

),
matches as (
    select
        s.grp,
        s.n,
        cast(coalesce(sum(x.members) filter (where x.sure), 0) as bigint) as sure,
        cast(coalesce(sum(x.members), 0) as bigint) as possible
    from sizes s
    left join pairs x on x.grp = s.grp
    group by s.grp, s.n
)
,
kept as (
    select offer, count(distinct tuple) as tuples from pairs where sure group by offer
),
had as (
    select t.offer, count(*) as tuples
    from anon_scratch.main.offered_cuts t
    join anon_scratch.main.population_within w on w.class_id = t.class_id
    where t.offer in (select cast(floor(grp / 2) as bigint) from sizes)
    group by t.offer
)

select cast(floor(m.grp / 2) as bigint) as offer, bool_and((sure >= 3) and (cast(n as hugeint) * 1 <= cast(sure as hugeint) * 1) and (cast(possible as hugeint) * 1 <= cast(n as hugeint) * 10) and coalesce(k.tuples = h.tuples, false)) as holds
from matches m
left join kept k on k.offer = cast(floor(m.grp / 2) as bigint)
left join had h on h.offer = cast(floor(m.grp / 2) as bigint)
group by 1;

-- settle cuts: The best cut of a class of which both halves hold everything is taken. Classes without one keep the cuts whose turn is still to come{% if monotone %}, but for those of which a half lies within a half that was refused{% endif %}.
create or replace table anon_scratch.main.offered_cuts as
with judged as (
    select grp, holds, not holds as refused from anon_scratch.main.halves_verdicts
),
found as (
    select t.class_id, min(t.rank) as rank
    from anon_scratch.main.offered_cuts t
    where t.offer in (select cast(floor(grp / 2) as bigint) from judged where holds group by 1 having count(*) = 2)
        and t.offer in (select offer from anon_scratch.main.population_compared where holds)
    group by t.class_id
)
,
refused as (
    select
        t.class_id, t.attribute,
        max(t.code) filter (where j.grp % 2 = 0) as left_code,
        min(t.code) filter (where j.grp % 2 = 1) as right_code
    from judged j
    join anon_scratch.main.offered_cuts t on t.offer = cast(floor(j.grp / 2) as bigint)
    where j.refused and not t.single
    group by t.class_id, t.attribute
)

select
    t.offer, t.class_id, t.attribute, t.code, t.single, t.units_left, t.kept_left, t.n_all, t.rank,
    case when t.turn = 0 or t.rank = f.rank then 0 else t.turn - 1 end as turn
from anon_scratch.main.offered_cuts t
left join found f on f.class_id = t.class_id
left join refused r on r.class_id = t.class_id and r.attribute = t.attribute
where t.turn = 0
    or t.rank = f.rank
    or (
        f.rank is null and t.turn > 1
        and coalesce(t.code > r.left_code, true)
        and coalesce(case when t.single then t.code <= r.right_code else t.code < r.right_code end, true)
    );

-- exit query of the loop: How many cuts are left to try.
select count(*) from anon_scratch.main.offered_cuts where turn > 0;
-- end of loop: try cuts

-- chosen cuts: The cuts that were taken.
create or replace table anon_scratch.main.chosen_cuts as
select
    class_id, attribute, code, single, units_left,
    kept_left < 2 as left_closed,
    n_all - kept_left < 2 as right_closed
from anon_scratch.main.offered_cuts
where turn = 0;

-- close classes: Classes without an admissible cut are final.
insert into anon_scratch.main.members
select o.unit, o.class_id
from anon_scratch.main.open_units o
where o.class_id not in (select class_id from anon_scratch.main.chosen_cuts);

-- apply cuts: The members of every class that is cut move to its two halves; nothing else stays open.
create or replace table anon_scratch.main.open_units as
select
    unit,
    case when is_left then class_id else class_id + units_left end as class_id,
    level + 1 as level,
    case when is_left then left_closed else right_closed end as closed,
    n, c1, c2, c3, c4
from (
    select
        o.*, t.units_left, t.left_closed, t.right_closed,
        case when t.single then case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 when 4 then o.c4 end = t.code else case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 when 4 then o.c4 end <= t.code end as is_left
    from anon_scratch.main.open_units o
    join anon_scratch.main.chosen_cuts t on t.class_id = o.class_id
    where not o.closed
);

-- population of the halves: The tuples of the population that match a class after its cut: some of those that matched before.
create or replace table anon_scratch.main.population_narrowed as
with halves as (select class_id as grp, unit from anon_scratch.main.open_units where not closed),
extent as (
    select
        g.grp
        , min(e.c1) filter (where e.c1 > 0) as lo1
        , max(e.c1) filter (where e.c1 > 0) as hi1
        , bool_or(e.c1 = 0) as nil1
        , min(e.c2) filter (where e.c2 > 0) as lo2
        , max(e.c2) filter (where e.c2 > 0) as hi2
        , bool_or(e.c2 = 0) as nil2
        , min(e.c3) filter (where e.c3 > 0) as lo3
        , max(e.c3) filter (where e.c3 > 0) as hi3
        , bool_or(e.c3 = 0) as nil3
        , min(e.c4) filter (where e.c4 > 0) as lo4
        , max(e.c4) filter (where e.c4 > 0) as hi4
        , bool_or(e.c4 = 0) as nil4
        , list(distinct e.c4) as set4
        , count(distinct e.c4) filter (where e.c4 > 0) as size4
    from "halves" g
    join anon_scratch.main.units e on e.unit = g.unit
    group by g.grp
),
boxes as (
    select
        x.*
        , coalesce(case
            when lo3 = hi3 then 0
            when lo3 = 1 and hi3 = 8 then 5
            when low3.a1 = high3.a1 then 1
            when low3.a2 = high3.a2 then 2
            when low3.a3 = high3.a3 then 3
            when low3.a4 = high3.a4 then 4
            when low3.a5 = high3.a5 then 5
            else 5
        end, 0) as level3
        , low3.a1 as node3_1
        , low3.a2 as node3_2
        , low3.a3 as node3_3
        , low3.a4 as node3_4
        , low3.a5 as node3_5
    from extent x
    left join anon_scratch.main.domain_3 low3 on low3.code = x.lo3
    left join anon_scratch.main.domain_3 high3 on high3.code = x.hi3
),
parents as (
    select class_id as parent, class_id as grp from anon_scratch.main.chosen_cuts
    union all
    select class_id, class_id + units_left from anon_scratch.main.chosen_cuts
)
select b.grp as class_id, p.tuple
from boxes b
join parents c on c.grp = b.grp
join anon_scratch.main.population_within w on w.class_id = c.parent
join anon_scratch.main.population_tuples p on p.tuple = w.tuple and true
and coalesce(
    case
        when p.p1 = 0 then b.nil1
        else p.p1 between 2 * b.lo1 and 2 * b.hi1
    end,
    false
)
and coalesce(
    case
        when p.p2 = 0 then b.nil2
        else p.p2 between 2 * b.lo2 and 2 * b.hi2
    end,
    false
)
and coalesce(
    case
        when p.p3 = 0 then b.nil3
        when b.lo3 is null then false
        when b.level3 = 0 then p.p3 = b.lo3
        when b.level3 = 5 or p.p3 = -2 then true
        when b.level3 = 1 then p.p3_1 = b.node3_1
        when b.level3 = 2 then p.p3_2 = b.node3_2
        when b.level3 = 3 then p.p3_3 = b.node3_3
        when b.level3 = 4 then p.p3_4 = b.node3_4
        when b.level3 = 5 then p.p3_5 = b.node3_5
    end,
    false
)
and coalesce(
    case
        when p.p4 = 0 then b.nil4
        when b.size4 > 1 and b.size4 = 2 then true
        else list_contains(b.set4, p.p4)
    end,
    false
);

-- population of open classes: The narrowed tuples become those that the next level starts from.
create or replace table anon_scratch.main.population_within as
select class_id, tuple from anon_scratch.main.population_narrowed;

-- exit query of the loop: How many units are in classes that may still be cut.
select count(*) from anon_scratch.main.open_units;
-- end of loop: partition

-- extent of classes: The extent of every class: lowest and highest code per attribute, NULLs, size, smallest draw.
create or replace table anon_scratch.main.boxes as
select
    m.class_id,
    cast(sum(u.n) as bigint) as n,
    min(u.draw) as draw
    , min(u.c1) filter (where u.c1 > 0) as lo1
    , max(u.c1) filter (where u.c1 > 0) as hi1
    , bool_or(u.c1 = 0) as null1
    , min(u.c2) filter (where u.c2 > 0) as lo2
    , max(u.c2) filter (where u.c2 > 0) as hi2
    , bool_or(u.c2 = 0) as null2
    , min(u.c3) filter (where u.c3 > 0) as lo3
    , max(u.c3) filter (where u.c3 > 0) as hi3
    , bool_or(u.c3 = 0) as null3
    , min(u.c4) filter (where u.c4 > 0) as lo4
    , max(u.c4) filter (where u.c4 > 0) as hi4
    , bool_or(u.c4 = 0) as null4
    , bit_or(case when u.c4 > 0 then cast(1 as bigint) << u.c4 else 0 end) as bits4
from anon_scratch.main.members m
join anon_scratch.main.units u on u.unit = m.unit
group by m.class_id;

-- nodes of zip: The lowest node of the hierarchy that covers a class, for every extent that occurs.
create or replace table anon_scratch.main.labels_3 as
with extents as (
    select distinct lo3 as low, hi3 as high
    from anon_scratch.main.boxes
    where lo3 < hi3
),
shared as (
    select e.low, e.high, l.level, l.label, l.leaves, max(l.leaves) over () as all_leaves
    from extents e
    join anon_scratch.main.domain_3 dl on dl.code = e.low
    join anon_scratch.main.domain_3 dh on dh.code = e.high
    join anon_scratch.main.hierarchy_3 l on l.value = dl.value
    join anon_scratch.main.hierarchy_3 h on h.value = dh.value and h.level = l.level and h.node = l.node
    qualify row_number() over (partition by e.low, e.high order by l.level) = 1
)
select
    l.low,
    l.high,
    case when l.level = 5 or (l.low = 1 and l.high = (select max(code) from anon_scratch.main.domain_3))
        then '*' else case when regexp_matches(cast(l.label as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(l.label as varchar), '"', '""') || '"' else cast(l.label as varchar) end end as cell,
    l.leaves / cast(l.all_leaves as double) as share
from shared l;

-- sets of sex: The sets of values of one categorical attribute that classes with more than one publish: told apart by their bits where a domain is small, else by class.
create or replace table anon_scratch.main.sets_4 as
with pairs as (
    select f.bits, d.code
    from (select distinct bits4 as bits from anon_scratch.main.boxes where lo4 < hi4) f
    join anon_scratch.main.domain_4 d on d.code > 0 and (f.bits >> d.code) & 1 = 1
)
select
    p.bits,
    count(*) as size,
    case when count(*) = (select count(*) from anon_scratch.main.domain_4 where code > 0) then '*'
        else '{' || string_agg(d.label, ', ' order by cast(d.value as varchar)) || '}' end as cell
from pairs p
join anon_scratch.main.domain_4 d on d.code = p.code
group by p.bits;

-- cells of classes: What every class publishes, one column per cell, and its number in secret-keyed order.
create or replace table anon_scratch.main.cells as
with numbers as (
    select class_id, row_number() over (order by md5_number(concat(hex(draw), ':class')), class_id) as number
    from anon_scratch.main.boxes
)
select
    b.class_id,
    o.number,
    b.n
    , case when b.lo1 is null then null when b.lo1 = b.hi1 then low1.label || case when b.null1 then ' or NULL' else '' end else '[' || low1.label || ', ' || high1.label || ']' || case when b.null1 then ' or NULL' else '' end end as cell1
    , case when b.lo2 is null then null when b.lo2 = b.hi2 then low2.label || case when b.null2 then ' or NULL' else '' end else '[' || low2.label || ', ' || high2.label || ']' || case when b.null2 then ' or NULL' else '' end end as cell2
    , case when b.lo3 is null then null when b.lo3 = b.hi3 then low3.label || case when b.null3 then ' or NULL' else '' end else chosen3.cell || case when b.null3 then ' or NULL' else '' end end as cell3
    , case when b.lo4 is null then null when b.lo4 = b.hi4 then low4.label || case when b.null4 then ' or NULL' else '' end else chosen4.cell || case when b.null4 then ' or NULL' else '' end end as cell4
from anon_scratch.main.boxes b
join numbers o on o.class_id = b.class_id
left join anon_scratch.main.domain_1 low1 on low1.code = b.lo1
left join anon_scratch.main.domain_1 high1 on high1.code = b.hi1
left join anon_scratch.main.domain_2 low2 on low2.code = b.lo2
left join anon_scratch.main.domain_2 high2 on high2.code = b.hi2
left join anon_scratch.main.domain_3 low3 on low3.code = b.lo3
left join anon_scratch.main.labels_3 chosen3 on chosen3.low = b.lo3 and chosen3.high = b.hi3
left join anon_scratch.main.domain_4 low4 on low4.code = b.lo4
left join anon_scratch.main.sets_4 chosen4 on chosen4.bits = b.bits4;

-- write the release: The release: every published row with the cells of its class, shuffled by its draw.
create or replace table anon_scratch.main.staged as
select
    c.number as "class_id",
    c.cell1 as "age",
    c.cell2 as "born",
    c.cell3 as "zip",
    c.cell4 as "sex",
    r.s1 as "ill",
    r.k1 as "ward"
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.t1 = r.t1
join anon_scratch.main.members m on m.unit = u.unit
join anon_scratch.main.cells c on c.class_id = m.class_id
order by r.draw;
