-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    "age" as q1,
    "born" as q2,
    cast("zip" as varchar) collate "binary" as q3,
    cast("sex" as varchar) collate "binary" as q4,
    cast("ill" as varchar) collate "binary" as s1,
    cast("ward" as varchar) collate "binary" as k1,
    "patient" as person,
    cast("visit" as varchar) as identity
from "anon_source"."main"."people";

-- checks of the source: Counts of the source that forbid going on, each under its number. (stops the run if it returns rows)
with counted as (
    select count(*) filter (where isinf(q2)) as n1, count(*) - count(identity) as n2, count(identity) - count(distinct identity) as n3, count(*) - count(person) as n4, case when count(*) > 1 and count(distinct k1) >= 0.9 * count(*) then count(distinct k1) else 0 end as n5, case when count(*) > 1 and count(distinct s1) >= 0.9 * count(*) then count(distinct s1) else 0 end as n6
    from anon_scratch.main.snapshot
)
select 1 as number, cast(n1 as bigint) as n from counted where n1 > 0
union all
select 2 as number, cast(n2 as bigint) as n from counted where n2 > 0
union all
select 3 as number, cast(n3 as bigint) as n from counted where n3 > 0
union all
select 4 as number, cast(n4 as bigint) as n from counted where n4 > 0
union all
select 5 as number, cast(n5 as bigint) as n from counted where n5 > 0
union all
select 6 as number, cast(n6 as bigint) as n from counted where n6 > 0;

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
        , s.person
    from anon_scratch.main.snapshot s
    join anon_scratch.main.domain_1 d1 on d1.value is not distinct from s.q1
    join anon_scratch.main.domain_2 d2 on d2.value is not distinct from s.q2
    join anon_scratch.main.domain_3 d3 on d3.value is not distinct from s.q3
    join anon_scratch.main.domain_4 d4 on d4.value is not distinct from s.q4
    -- the rows of a person are published together or not at all
    where not exists (
        select 1
        from anon_scratch.main.snapshot other
        where other.person = s.person and (other.q1 is null)
    )
),
drawn as (
    select
        md5_number(concat($secret, ':', t1, ':', "identity")) as draw
        , row_ref
        , t1
        , s1
        , k1
        , person
    from placed
)
select *
from drawn;

-- one tuple per person: Persons whose rows differ in their quasi-identifiers. (stops the run if it returns rows)
select count(*) as persons
from (
    select person
    from anon_scratch.main.coded
    group by person
    having min(t1) <> max(t1)
)
having count(*) > 0;

-- numbers of persons: A number without meaning for every person, in secret-keyed order.
create or replace table anon_scratch.main.persons as
select person, row_number() over (order by md5_number(concat(hex(draw), ':person')), person) as number
from (select person, min(draw) as draw from anon_scratch.main.coded group by person);

-- enough rows: The table has fewer units (rows, or persons) than one class needs. (stops the run if it returns rows)
select count(distinct person) as units from anon_scratch.main.coded having count(distinct person) < 2;

-- distinct tuples: The distinct quasi-identifier tuples with their counts: what is partitioned instead of rows.
create or replace table anon_scratch.main.units as
with grouped as (
    select t1, count(distinct person) as n, min(draw) as draw
    from anon_scratch.main.coded
    group by t1
)
select row_number() over (order by t1) as unit, *, cast(t1 // 216 as integer) as c1, cast((t1 // 27) % 8 as integer) as c2, cast((t1 // 3) % 9 as integer) as c3, cast((t1) % 3 as integer) as c4
from grouped;

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

-- partition: The whole partitioning as one statement: every class is cut until no admissible cut is left.
create or replace table anon_scratch.main.members as
with recursive partition(unit, class_id, level, closed, n, c1, c2, c3, c4, w1, several) as (
    select unit, 1 as class_id, 0 as level, false as closed, n, c1, c2, c3, c4, case when c4 between 0 and 2 then cast(1 as bigint) << (c4 + 0) else 0 end as w1, cast(-1 as bigint) as several
from anon_scratch.main.units
    union all (
        with histogram as (
    select class_id, 1 as attribute, c1 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from partition
    where not closed and several & 2 <> 0
    group by class_id, c1
    union all
    select class_id, 2 as attribute, c2 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from partition
    where not closed and several & 4 <> 0
    group by class_id, c2
    union all
    select class_id, 3 as attribute, c3 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from partition
    where not closed and several & 8 <> 0
    group by class_id, c3
    union all
    select class_id, 4 as attribute, c4 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from partition
    where not closed and several & 16 <> 0
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
        cast(sum(units) as bigint) as units_all,
        count(*) as values_all,
        min(code) as first_code,
        max(code) as last_code,
        min(share) as first_share,
        max(share) as last_share
    from placed
    group by class_id, attribute
    having count(*) > 1 and sum(n) >= 4
),
totals as (
    select
        s.*
        , cast(sum(n_all) over below as bigint) - n_all as n_before
        , cast(sum(units_all) over below as bigint) - units_all as units_before
        , cast(sum(values_all) over below as bigint) - values_all as values_before
        , f.a1 as first_a1, l.a1 as last_a1, l.z1 as last_z1
        , f.a2 as first_a2, l.a2 as last_a2, l.z2 as last_z2
        , f.a3 as first_a3, l.a3 as last_a3, l.z3 as last_z3
        , f.a4 as first_a4, l.a4 as last_a4, l.z4 as last_z4
        , f.a5 as first_a5, l.a5 as last_a5, l.z5 as last_z5
    from spans s
    join anon_scratch.main.positions f on f.attribute = s.attribute and f.code = s.first_code
    join anon_scratch.main.positions l on l.attribute = s.attribute and l.code = s.last_code
    window below as (order by s.class_id, s.attribute rows between unbounded preceding and current row)
),
running as (
    select
        p.class_id, p.attribute, p.code, p.level, p.share, p.size, p.n, p.units,
        t.n_all, t.values_all, t.first_code, t.last_code, t.first_share, t.last_share,
        cast(sum(p.n) over below as bigint) - t.n_before as n_left,
        cast(sum(p.units) over below as bigint) - t.units_before as units_left,
        row_number() over below - t.values_before as values_left,
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
    window below as (order by p.class_id, p.attribute, p.code rows between unbounded preceding and current row)
),
scored as (
    select
        class_id, attribute, code, false as single, level, n_left, n_all,
        units_left,
        n_left as kept_left,
        n_all * case when attribute in (1, 2) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (3) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 when first_a4 = last_a4 then last_z4 when first_a5 = last_a5 then last_z5 else 1 end when attribute in (4) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - n_left * case when attribute in (1, 2) then case when first_code = 0 and code > 0 then (coalesce(share - first_share, 0) * (size - 1) + 1) / size else coalesce(share - first_share, 0) end when attribute in (3) then case when first_code = code then 0 when first_a1 = a1 then z1 when first_a2 = a2 then z2 when first_a3 = a3 then z3 when first_a4 = a4 then z4 when first_a5 = a5 then z5 else 1 end when attribute in (4) then case when values_left > 1 then values_left / cast(size as double) else 0 end end - (n_all - n_left) * case when attribute in (1, 2) then coalesce(last_share - next_share, 0) when attribute in (3) then case when next_code = last_code then 0 when next_a1 = last_a1 then last_z1 when next_a2 = last_a2 then last_z2 when next_a3 = last_a3 then last_z3 when next_a4 = last_a4 then last_z4 when next_a5 = last_a5 then last_z5 else 1 end when attribute in (4) then case when (values_all - values_left) > 1 then (values_all - values_left) / cast(size as double) else 0 end end as gain
    from running
    where n_left >= 2 and n_all - n_left >= 2 and code < last_code
    union all
    -- one value of a category against all others; the first and the last one are cuts above already
    select class_id, attribute, code, true, level, n, n_all, units, n, n_all * case when attribute in (1, 2) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (3) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 when first_a4 = last_a4 then last_z4 when first_a5 = last_a5 then last_z5 else 1 end when attribute in (4) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - (n_all - n) * case when attribute in (1, 2) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (3) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 when first_a4 = last_a4 then last_z4 when first_a5 = last_a5 then last_z5 else 1 end when attribute in (4) then case when (values_all - 1) > 1 then (values_all - 1) / cast(size as double) else 0 end end
    from running
    where attribute in (3, 4)
        and code > first_code and code < last_code
        and n >= 2 and n_all - n >= 2
        and level < 16
),
-- what saves nothing need not be judged
candidates as (
    select * from scored where cast(gain as decimal(18, 8)) > 0
),
allowed as (
    select
        class_id, attribute, code, single, level, units_left, kept_left, n_all,
        -- cuts by loss may peel values off one by one; late levels are cut in the middle instead
        case when level < 16 then cast(gain / sqrt(case when attribute in (1, 2) then least(kept_left, n_all - kept_left) when attribute in (3) then n_all when attribute in (4) then n_all end) as decimal(18, 8)) else least(kept_left, n_all - kept_left) end as merit
    from candidates
),
-- the best cut of every attribute
best as (
    select class_id, attribute, max(merit) as merit from allowed group by class_id, attribute
),
first as (
    select a.class_id, a.attribute, a.merit, min(2 * a.code + case when a.single then 1 else 0 end) as place
    from allowed a
    join best b on b.class_id = a.class_id and b.attribute = a.attribute and b.merit = a.merit
    group by a.class_id, a.attribute, a.merit
),
-- ranked by counting the better ones: a class has few, and a window costs more however few they are
ranked as (
    select
        f.class_id, f.attribute, f.place,
        sum(case when r.merit > f.merit or r.merit = f.merit and r.attribute <= f.attribute then 1 else 0 end) as rank,
        count(*) as rivals
    from first f
    join first r on r.class_id = f.class_id
    group by f.class_id, f.attribute, f.place
),
contenders as (
    select a.*, r.rank, r.rivals
    from ranked r
    join allowed a on a.class_id = r.class_id and a.attribute = r.attribute
        and 2 * a.code + case when a.single then 1 else 0 end = r.place
    where r.rank <= 4
),
halves as (
    select
        class_id, cut, is_left, cast(sum(n) as bigint) as n
        , min(case when c1 > 0 then c1 end) as low1, max(c1) as high1
        , max(case when c1 = 0 then 1 else 0 end) as different1
        , min(case when c2 > 0 then c2 end) as low2, max(c2) as high2
        , max(case when c2 = 0 then 1 else 0 end) as different2
        , min(c3) as low3, max(c3) as high3
        , bit_or(w1) as w1
    from (
        select
            o.*, t.attribute as cut,
            case t.attribute
                when 1 then case when t.single then o.c1 = t.code else o.c1 <= t.code end
                when 2 then case when t.single then o.c2 = t.code else o.c2 <= t.code end
                when 3 then case when t.single then o.c3 = t.code else o.c3 <= t.code end
                when 4 then case when t.single then o.c4 = t.code else o.c4 <= t.code end
            end as is_left
        from partition o
        join contenders t on t.class_id = o.class_id
        where not o.closed
            and t.rivals > 1 and t.level < 16
    )
    group by class_id, cut, is_left
),
extents as (
    select class_id, cut, is_left, n, 1 as attribute, low1 as low, high1 as high, different1 as different
    from halves
    where low1 < high1 or different1 > 0
    union all
    select class_id, cut, is_left, n, 2 as attribute, low2 as low, high2 as high, different2 as different
    from halves
    where low2 < high2 or different2 > 0
    union all
    select class_id, cut, is_left, n, 3 as attribute, low3 as low, high3 as high, 0 as different
    from halves
    where low3 < high3
    union all
    -- a set takes no more than the size of the domain from its place in it
    select class_id, cut, is_left, n, 4 as attribute, 1 as low, 1 as high, cast(bit_count(w1 & 7) as integer) as different
    from halves
    where cast(bit_count(w1 & 7) as integer) > 1
),
losses as (
    -- rounded once per term and once more in sum, so that equal sums tie
    select e.class_id, e.cut, cast(e.n * case when e.attribute in (1, 2) then case when different > 0 then (coalesce(h.share - l.share, 0) * (l.size - 1) + 1) / l.size else coalesce(h.share - l.share, 0) end when e.attribute in (3) then case when low = high then 0 when l.a1 = h.a1 then h.z1 when l.a2 = h.a2 then h.z2 when l.a3 = h.a3 then h.z3 when l.a4 = h.a4 then h.z4 when l.a5 = h.a5 then h.z5 else 1 end when e.attribute in (4) then different / cast(l.size as double) end as decimal(38, 12)) as lost
        , case when e.is_left then cast(1 as bigint) << e.attribute else 0 end as left_several
        , case when e.is_left then 0 else cast(1 as bigint) << e.attribute end as right_several
    from extents e
    join anon_scratch.main.positions l on l.attribute = e.attribute and l.code = e.low
    join anon_scratch.main.positions h on h.attribute = e.attribute and h.code = e.high
    union all
    select distinct class_id, cut, 0, 0, 0 from halves
),
lost as (
    select class_id, cut, cast(sum(lost) as decimal(38, 6)) as lost
        , bit_or(left_several) as left_several, bit_or(right_several) as right_several
    from losses
    group by class_id, cut
),
weighed as (
    select l.class_id, min(l.cut) as attribute
    from lost l
    join (select class_id, min(lost) as lost from lost group by class_id) b on b.class_id = l.class_id and b.lost = l.lost
    group by l.class_id
),

cuts as (
    select
        c.class_id, c.attribute, c.code, c.single, c.units_left,
        -- a half that is too small to be cut again is final at once
        c.kept_left < 4 as left_closed,
        c.n_all - c.kept_left < 4 as right_closed
        , coalesce(l.left_several, -1) as left_several
        , coalesce(l.right_several, -1) as right_several
    from contenders c
    left join weighed w on w.class_id = c.class_id
    left join lost l on l.class_id = w.class_id and l.cut = w.attribute
    where c.attribute = coalesce(w.attribute, c.attribute) and (w.attribute is not null or c.rank = 1)
)

        select
    unit,
    case when is_left then class_id else class_id + units_left end as class_id,
    level + 1 as level,
    case when is_left then left_closed else right_closed end as closed,
    n, c1, c2, c3, c4, w1, several & case when is_left then left_several else right_several end as several
from (
    select
        o.*, t.units_left, t.left_closed, t.right_closed, t.left_several, t.right_several,
        case when t.single then case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 when 4 then o.c4 end = t.code else case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 when 4 then o.c4 end <= t.code end as is_left
    from partition o
    join cuts t on t.class_id = o.class_id
    where not o.closed
)

    )
)
select unit, arg_max(class_id, level) as class_id
from partition
group by unit;

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
    p.number as "person_id",
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
join anon_scratch.main.persons p on p.person = r.person
order by r.draw;
