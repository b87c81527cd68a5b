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

-- codes of sex: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_2 as
with valued as (
    select value, n from anon_scratch.main.values_2
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
select count(distinct person) as units from anon_scratch.main.coded having count(distinct person) < 3;

-- places of age: Where the codes of one attribute stand, in whole numbers: the place in an ordered domain, or the ancestors in its hierarchy and what they cost, (values below the node - 1) of (values - 1).
create or replace table anon_scratch.main.places_1 as
select
    code
    , case
        when code = 0 then null
        when max(code) over () <= 1 then cast(0 as bigint)
        when cast(max(value) over () as hugeint) - cast(min(value) over () as hugeint) <= 100000
            then cast(cast(value as hugeint) - cast(min(value) over () as hugeint) as bigint) * cast(round(1000000000 / cast(cast(max(value) over () as hugeint) - cast(min(value) over () as hugeint) as double)) as bigint)
        else cast(round(coalesce(share, 0) * 1000000000) as bigint)
    end as place
from anon_scratch.main.domain_1;

-- places of sex: Where the codes of one attribute stand, in whole numbers: the place in an ordered domain, or the ancestors in its hierarchy and what they cost, (values below the node - 1) of (values - 1).
create or replace table anon_scratch.main.places_2 as
select
    code
from anon_scratch.main.domain_2;

-- places of zip: Where the codes of one attribute stand, in whole numbers: the place in an ordered domain, or the ancestors in its hierarchy and what they cost, (values below the node - 1) of (values - 1).
create or replace table anon_scratch.main.places_3 as
select
    code
    , a1
    , cast(round(
        (count(*) filter (where code > 0) over (partition by a1, code > 0) - 1)
            * 1000000000 / cast(greatest(size - 1, 1) as double)) as bigint) as cost1
    , a2
    , cast(round(
        (count(*) filter (where code > 0) over (partition by a2, code > 0) - 1)
            * 1000000000 / cast(greatest(size - 1, 1) as double)) as bigint) as cost2
    , a3
    , cast(1000000000 as bigint) as cost3
from anon_scratch.main.domain_3;

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
        , min(d1.place) as lo1
        , max(d1.place) as hi1
        , bit_or((cast(1 as bigint) << cast(d2.code - 1 as bigint))) as bits2
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
    cast(((hi1 - lo1)) + ((bit_count(bits2) - 1) * 1000000000) + (case level3 when 0 then 0 when 1 then cost1_3 when 2 then cost2_3 when 3 then cost3_3 end) as bigint) as loss
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
select col, known, different, widest from counted where (different < 3 or known < 3 or known - widest + 1 < 3);

-- places in the domains: The domains of all quasi-identifiers in one table, with a row for cells that are sensitive.
create or replace table anon_scratch.main.positions as
select 1 as attribute, code, share, size
, 0 as a1, 0 as z1, 0 as a2, 0 as z2, 0 as a3, 0 as z3
from anon_scratch.main.domain_1
union all
select 2 as attribute, code, share, size
, 0 as a1, 0 as z1, 0 as a2, 0 as z2, 0 as a3, 0 as z3
from anon_scratch.main.domain_2
union all
select 3 as attribute, code, share, size
, a1 as a1, z1 as z1, a2 as a2, z2 as z2, a3 as a3, z3 as z3
from anon_scratch.main.domain_3;

-- partition: The whole partitioning as one statement: every class is cut until no admissible cut is left.
create or replace table anon_scratch.main.members as
with recursive partition(unit, class_id, level, closed, n, c1, c2, c3) as (
    select unit, 1 as class_id, 0 as level, false as closed, n, c1, c2, c3
from anon_scratch.main.units
    union all (
        with histogram as (
    select class_id, 1 as attribute, c1 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from partition
    where not closed
    group by class_id, c1
    union all
    select class_id, 2 as attribute, c2 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from partition
    where not closed
    group by class_id, c2
    union all
    select class_id, 3 as attribute, c3 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from partition
    where not closed
    group by class_id, c3
),
placed as (
    select h.class_id, h.attribute, h.code, h.level, h.n, h.units, p.share, p.size
, p.a1, p.z1, p.a2, p.z2, p.a3, p.z3
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
    having count(*) > 1 and sum(n) >= 128
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
    from placed p
    join totals t on t.class_id = p.class_id and t.attribute = p.attribute
    window below as (order by p.class_id, p.attribute, p.code rows between unbounded preceding and current row)
),
scored as (
    select
        class_id, attribute, code, false as single, level, n_left, n_all,
        units_left,
        n_left as kept_left,
        n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when values_all > 1 then values_all / cast(size as double) else 0 end when attribute in (3) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 else 1 end end - n_left * case when attribute in (1) then case when first_code = 0 and code > 0 then (coalesce(share - first_share, 0) * (size - 1) + 1) / size else coalesce(share - first_share, 0) end when attribute in (2) then case when values_left > 1 then values_left / cast(size as double) else 0 end when attribute in (3) then case when first_code = code then 0 when first_a1 = a1 then z1 when first_a2 = a2 then z2 when first_a3 = a3 then z3 else 1 end end - (n_all - n_left) * case when attribute in (1) then coalesce(last_share - next_share, 0) when attribute in (2) then case when (values_all - values_left) > 1 then (values_all - values_left) / cast(size as double) else 0 end when attribute in (3) then case when next_code = last_code then 0 when next_a1 = last_a1 then last_z1 when next_a2 = last_a2 then last_z2 when next_a3 = last_a3 then last_z3 else 1 end end as gain
    from running
    where n_left >= 64 and n_all - n_left >= 64 and code < last_code
    union all
    -- one value of a category against all others; the first and the last one are cuts above already
    select class_id, attribute, code, true, level, n, n_all, units, n, n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when values_all > 1 then values_all / cast(size as double) else 0 end when attribute in (3) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 else 1 end end - (n_all - n) * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when (values_all - 1) > 1 then (values_all - 1) / cast(size as double) else 0 end when attribute in (3) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 else 1 end end
    from running
    where attribute in (2, 3)
        and code > first_code and code < last_code
        and n >= 64 and n_all - n >= 64
        and level < 10
),
-- what saves nothing need not be judged
candidates as (
    select * from scored where cast(gain as decimal(18, 8)) > 0
),
allowed as (
    select
        class_id, attribute, code, single, level, units_left, kept_left, n_all,
        -- cuts by loss may peel values off one by one; late levels are cut in the middle instead
        case when level < 10 then cast(gain as decimal(18, 8)) else least(kept_left, n_all - kept_left) end as merit
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
    where r.rank <= 1
),
cuts as (
    select
        c.class_id, c.attribute, c.code, c.single, c.units_left,
        -- a half that is too small to be cut again is final at once
        c.kept_left < 128 as left_closed,
        c.n_all - c.kept_left < 128 as right_closed
    from contenders c
    where c.rank = 1
)

        select
    unit,
    case when is_left then class_id else class_id + units_left end as class_id,
    level + 1 as level,
    case when is_left then left_closed else right_closed end as closed,
    n, c1, c2, c3
from (
    select
        o.*, t.units_left, t.left_closed, t.right_closed,
        case when t.single then case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 end = t.code else case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 end <= t.code end as is_left
    from partition o
    join cuts t on t.class_id = o.class_id
    where not o.closed
)

    )
)
select unit, arg_max(class_id, level) as class_id
from partition
group by unit;

-- persons of blocks: Every person with its block, its place in the order of the block, and what a cluster of this person alone carries. Parts of the partition that are too large, since nothing tells their persons apart, are cut into even pieces.
create or replace table anon_scratch.main.neighbours as
with placed as (
    select
        m.class_id,
        floor((row_number() over (partition by m.class_id order by c1, c2, c3, u.unit) - 1)
            * ceil(count(*) over (partition by m.class_id) / 128) / count(*) over (partition by m.class_id)) as piece,
        u.unit
    from anon_scratch.main.units u
    join anon_scratch.main.members m on m.unit = u.unit
),
numbered as (
    select unit, cast(dense_rank() over (order by class_id, piece) as bigint) as block
    from placed
)
, held as (
    select unit, coalesce(list(value order by value) filter (where col = 1 and value > 0), []) as values_1
    from anon_scratch.main.holdings
    group by unit
)
select
    n.block,
    cast(row_number() over (partition by n.block order by u.unit) as bigint) as place,
    u.unit,
    u.records,
    u.loss
    , u.lo1
    , u.hi1
    , u.bits2
    , u.leaf3
    , u.node1_3
    , u.node2_3
    , u.node3_3
    , u.cost1_3
    , u.cost2_3
    , u.cost3_3
    , u.level3
    , h.values_1
from anon_scratch.main.units u
join numbered n on n.unit = u.unit
join held h on h.unit = u.unit
order by block, place;

-- blocks before the first move: Blocks before the first move: no cluster, nobody taken.
create or replace table anon_scratch.main.clusters as
select
    block,
    open.seed,
    open.size,
    open.records,
    open.loss,
    open.members,
    open.lo1,
    open.hi1,
    open.bits2,
    open.leaf3,
    open.node1_3,
    open.node2_3,
    open.node3_3,
    open.cost1_3,
    open.cost2_3,
    open.cost3_3,
    open.level3,
    cast([] as integer[]) as proof_1,
    list_filter([open], lambda c: false) as closed,
    taken,
    remaining
from (
    select
        block,
        struct_pack(
            seed := max(place) filter (where false),
            size := cast(0 as bigint),
            records := max(records) filter (where false),
            loss := max(loss) filter (where false),
            members := cast([] as bigint[])
            , lo1 := max(lo1) filter (where false)
            , hi1 := max(hi1) filter (where false)
            , bits2 := max(bits2) filter (where false)
            , leaf3 := max(leaf3) filter (where false)
            , node1_3 := max(node1_3) filter (where false)
            , node2_3 := max(node2_3) filter (where false)
            , node3_3 := max(node3_3) filter (where false)
            , cost1_3 := max(cost1_3) filter (where false)
            , cost2_3 := max(cost2_3) filter (where false)
            , cost3_3 := max(cost3_3) filter (where false)
            , level3 := max(level3) filter (where false)
        ) as open,
        bitstring('0', cast(count(*) as integer)) as taken,
        count(*) as remaining
    from anon_scratch.main.neighbours
    group by block
);

-- loop: grow clusters, at most 49 times, until the exit query counts 0
-- grow clusters: All blocks grow their clusters side by side, a move an iteration: the open cluster takes the nearest person of its block, or unites with its nearest closed cluster; where it holds it is closed, and the next person in order is the seed of the next. Between equal distances a person goes before a cluster, and the earlier in order before the later. A block stops when nobody is left in it to take{% if waits %}, or when only a search can tell whether its cluster holds{% endif %}.
create or replace table anon_scratch.main.grown_clusters as
with recursive blocks using key (block) as (
    select * from anon_scratch.main.clusters
    union
    select
        block,
        seed,
        size,
        records,
        cast(((hi1 - lo1)) + ((bit_count(bits2) - 1) * 1000000000) + (case level3 when 0 then 0 when 1 then cost1_3 when 2 then cost2_3 when 3 then cost3_3 end) as bigint) as loss,
        members,
        lo1,
        hi1,
        bits2,
        leaf3,
        node1_3,
        node2_3,
        node3_3,
        cost1_3,
        cost2_3,
        cost3_3,
        level3,
        proof_1,
        closed,
        taken,
        remaining
    from (
        select
            x.block,
            case when x.fresh then y.seed else x.seed end as seed,
            case when x.fresh then 1 else x.size + y.size end as size,
            case when x.fresh then y.records else x.records + y.records end as records,
            case when x.fresh then y.members else list_concat(x.members, y.members) end as members
            , case when x.fresh then y.lo1 else least(x.lo1, y.lo1) end as lo1
            , case when x.fresh then y.hi1 else greatest(x.hi1, y.hi1) end as hi1
            , case when x.fresh then y.bits2 else (x.bits2 | y.bits2) end as bits2
            , case when x.fresh then y.leaf3 else x.leaf3 end as leaf3
            , case when x.fresh then y.node1_3 else x.node1_3 end as node1_3
            , case when x.fresh then y.node2_3 else x.node2_3 end as node2_3
            , case when x.fresh then y.node3_3 else x.node3_3 end as node3_3
            , case when x.fresh then y.cost1_3 else x.cost1_3 end as cost1_3
            , case when x.fresh then y.cost2_3 else x.cost2_3 end as cost2_3
            , case when x.fresh then y.cost3_3 else x.cost3_3 end as cost3_3
            , case when x.fresh then y.level3 else greatest(x.level3, y.level3, case when x.leaf3 = y.leaf3 then 0 when x.node1_3 = y.node1_3 then 1 when x.node2_3 = y.node2_3 then 2 when x.node3_3 = y.node3_3 then 3 else 3 end) end as level3
            , case
                when x.fresh then values_1[1:1]
                when x.kind = 1 or x.proof_1 is null then null
                when len(values_1) = 0 or list_has_any(x.proof_1, values_1) then x.proof_1
                when len(x.proof_1) < 2 then list_append(x.proof_1, values_1[1])
                else cast([0] as integer[])
            end as proof_1
            , case
                when x.holds then list_append(x.closed, struct_pack(seed := x.seed, size := x.size, records := x.records, loss := x.loss, members := x.members, lo1 := x.lo1, hi1 := x.hi1, bits2 := x.bits2, leaf3 := x.leaf3, node1_3 := x.node1_3, node2_3 := x.node2_3, node3_3 := x.node3_3, cost1_3 := x.cost1_3, cost2_3 := x.cost2_3, cost3_3 := x.cost3_3, level3 := x.level3))
                when x.kind = 1 then list_filter(x.closed, lambda c: c.seed <> y.seed)
                else x.closed
            end as closed
            , case when x.kind = 0 then set_bit(x.taken, cast(y.seed - 1 as integer), 1) else x.taken end as taken
            , x.remaining - 1 + x.kind as remaining
        from (
            select
                x,
                case when kind = 1 then list_filter(closed, lambda c: c.seed = slot)[1] else struct_pack(
                    seed := h.place,
                    size := cast(1 as bigint),
                    records := h.records,
                    loss := h.loss,
                    members := [h.place],
                    lo1 := h.lo1,
                    hi1 := h.hi1,
                    bits2 := h.bits2,
                    leaf3 := h.leaf3,
                    node1_3 := h.node1_3,
                    node2_3 := h.node2_3,
                    node3_3 := h.node3_3,
                    cost1_3 := h.cost1_3,
                    cost2_3 := h.cost2_3,
                    cost3_3 := h.cost3_3,
                    level3 := h.level3
                ) end as y
                , h.values_1
            from (
                select o.*, cast(b.choice % 8589934592 as bigint) as slot, cast((b.choice // 8589934592) % 2 as integer) as kind
                from (select *, size = 0 or holds as fresh
from (
    select *, (proof_1 is null and size >= 3) as holds
    from blocks
    where remaining > 0 and not (coalesce(proof_1 = [0], false))
)) o
                join (
                    select block, min(choice) as choice
                    from (
                        select x.block, case when x.fresh then cast(y.place as hugeint) else cast((x.records + y.records) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1))) + ((bit_count((x.bits2 | y.bits2)) - 1) * 1000000000) + (case greatest(x.level3, y.level3, case when x.leaf3 = y.leaf3 then 0 when x.node1_3 = y.node1_3 then 1 when x.node2_3 = y.node2_3 then 2 when x.node3_3 = y.node3_3 then 3 else 3 end) when 0 then 0 when 1 then x.cost1_3 when 2 then x.cost2_3 when 3 then x.cost3_3 end)) - x.records * x.loss - y.records * y.loss as hugeint) * 17179869184 + y.place end as choice
                        from (select *, size = 0 or holds as fresh
from (
    select *, (proof_1 is null and size >= 3) as holds
    from blocks
    where remaining > 0 and not (coalesce(proof_1 = [0], false))
)) x
                        join anon_scratch.main.neighbours y on y.block = x.block
                        where get_bit(x.taken, cast(y.place - 1 as integer)) = 0
                        union all
                        select block, cast((x.records + y.records) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1))) + ((bit_count((x.bits2 | y.bits2)) - 1) * 1000000000) + (case greatest(x.level3, y.level3, case when x.leaf3 = y.leaf3 then 0 when x.node1_3 = y.node1_3 then 1 when x.node2_3 = y.node2_3 then 2 when x.node3_3 = y.node3_3 then 3 else 3 end) when 0 then 0 when 1 then x.cost1_3 when 2 then x.cost2_3 when 3 then x.cost3_3 end)) - x.records * x.loss - y.records * y.loss as hugeint) * 17179869184 + 8589934592 + y.seed
                        from (select block, x, unnest(closed) as y from (select *, size = 0 or holds as fresh
from (
    select *, (proof_1 is null and size >= 3) as holds
    from blocks
    where remaining > 0 and not (coalesce(proof_1 = [0], false))
)) x where not fresh)
                    )
                    group by block
                ) b on b.block = o.block
            ) x
            left join anon_scratch.main.neighbours h on h.block = x.block and h.place = x.slot and x.kind = 0
        )
    )
)
select * from blocks;

-- broken proofs: The value sets of the open clusters whose proof broke. Where l different values stand alone with somebody there is no proof any more, and nothing to search.
select o.block, s.col, list(distinct s.codes) as sets
from (
    select block, 1 as col, unnest(members) as place
    from anon_scratch.main.grown_clusters
    where proof_1 = [0]
) o
join anon_scratch.main.neighbours n on n.block = o.block and n.place = o.place
join anon_scratch.main.held_sets s on s.unit = n.unit and s.col = o.col
group by o.block, s.col
having count(distinct s.codes[1]) filter (where len(s.codes) = 1) < 3;
-- then in Python, into found_proofs: Fewer than l values that meet everybody in a cluster, searched exactly.

-- clusters after the search: The clusters after the search: those whose proof broke have the one that was found, or none.
create or replace table anon_scratch.main.clusters as
select g.* replace (
    case when g.proof_1 = [0] then f.proof_1 else g.proof_1 end as proof_1
)
from anon_scratch.main.grown_clusters g
left join (
    select block
        , cast(list(value order by value) filter (where col = 1) as integer[]) as proof_1
    from anon_scratch.main.found_proofs
    group by block
) f on f.block = g.block;

-- exit query of the loop: How many blocks waited for the search and have somebody left to take.
select count(*) from anon_scratch.main.grown_clusters where remaining > 0 and (coalesce(proof_1 = [0], false));
-- end of loop: grow clusters

-- residual persons: Every block with its clusters that hold and the residual persons who wait: those of clusters that never held, and those nobody took.
create or replace table anon_scratch.main.settling_blocks as
with held as (
    select
        block,
        case when (proof_1 is null and size >= 3) then list_append(closed, struct_pack(seed := seed, size := size, records := records, loss := loss, members := members, lo1 := lo1, hi1 := hi1, bits2 := bits2, leaf3 := leaf3, node1_3 := node1_3, node2_3 := node2_3, node3_3 := node3_3, cost1_3 := cost1_3, cost2_3 := cost2_3, cost3_3 := cost3_3, level3 := level3)) else closed end as closed
    from anon_scratch.main.clusters
),
settled as (
    select block, unnest(members) as place
    from (select block, unnest(closed).members as members from held)
),
residual as (
    select n.block, list(n.place order by n.place) as waiting
    from anon_scratch.main.neighbours n
    where (n.block, n.place) not in (select (block, place) from settled)
    group by n.block
)
select h.block, h.closed, coalesce(r.waiting, []) as waiting, cast([] as bigint[]) as homeless
from held h
left join residual r on r.block = h.block;

-- number of residual persons: How many persons were residual, joined a class afterwards or not.
select cast(coalesce(sum(len(waiting)), 0) as bigint) as residual_persons from anon_scratch.main.settling_blocks;

-- place residual persons: The residual persons of every block join clusters of their block, one after the other, an iteration each: the nearest cluster that holds with them, unless suppressing them costs less (one per cell). A person whom no cluster of the block can take is homeless.
create or replace table anon_scratch.main.settled_blocks as
with recursive blocks using key (block) as (
    select * from anon_scratch.main.settling_blocks
    union
    select
        block,
        case when chosen is null then closed else list_append(
            list_filter(closed, lambda c: c.seed <> chosen),
            struct_pack(
                seed := seed,
                size := size,
                records := records,
                loss := cast(((hi1 - lo1)) + ((bit_count(bits2) - 1) * 1000000000) + (case level3 when 0 then 0 when 1 then cost1_3 when 2 then cost2_3 when 3 then cost3_3 end) as bigint),
                members := members,
                lo1 := lo1,
                hi1 := hi1,
                bits2 := bits2,
                leaf3 := leaf3,
                node1_3 := node1_3,
                node2_3 := node2_3,
                node3_3 := node3_3,
                cost1_3 := cost1_3,
                cost2_3 := cost2_3,
                cost3_3 := cost3_3,
                level3 := level3
            )
        ) end as closed,
        waiting[2:] as waiting,
        case when nearest is null then list_append(homeless, waiting[1]) else homeless end as homeless
    from (
        select
            x.block, x.closed, x.waiting, x.homeless, x.nearest, x.chosen,
            y.seed, x.size + y.size as size, x.records + y.records as records, list_append(y.members, x.place) as members
            , least(x.lo1, y.lo1) as lo1
            , greatest(x.hi1, y.hi1) as hi1
            , (x.bits2 | y.bits2) as bits2
            , x.leaf3 as leaf3
            , x.node1_3 as node1_3
            , x.node2_3 as node2_3
            , x.node3_3 as node3_3
            , x.cost1_3 as cost1_3
            , x.cost2_3 as cost2_3
            , x.cost3_3 as cost3_3
            , greatest(x.level3, y.level3, case when x.leaf3 = y.leaf3 then 0 when x.node1_3 = y.node1_3 then 1 when x.node2_3 = y.node2_3 then 2 when x.node3_3 = y.node3_3 then 3 else 3 end) as level3
        from (
            select
                t.*,
                c.nearest,
                case when c.nearest // 17179869184 <= t.records * cast(3000000000 as hugeint) then cast(c.nearest % 17179869184 as bigint) end as chosen,
                list_filter(t.closed, lambda e: e.seed = c.nearest % 17179869184)[1] as y
            from (select b.closed, b.waiting, b.homeless, cast(1 as bigint) as size, h.*
from blocks b
join anon_scratch.main.neighbours h on h.block = b.block and h.place = b.waiting[1]) t
            left join (
                select block, min(distance * 17179869184 + seed) as nearest
                from (
                    select
                        x.block,
                        y.seed,
                        cast((x.records + y.records) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1))) + ((bit_count((x.bits2 | y.bits2)) - 1) * 1000000000) + (case greatest(x.level3, y.level3, case when x.leaf3 = y.leaf3 then 0 when x.node1_3 = y.node1_3 then 1 when x.node2_3 = y.node2_3 then 2 when x.node3_3 = y.node3_3 then 3 else 3 end) when 0 then 0 when 1 then x.cost1_3 when 2 then x.cost2_3 when 3 then x.cost3_3 end)) - x.records * x.loss - y.records * y.loss as hugeint) as distance
                    from (select x, unnest(closed) as y from (select b.closed, b.waiting, b.homeless, cast(1 as bigint) as size, h.*
from blocks b
join anon_scratch.main.neighbours h on h.block = b.block and h.place = b.waiting[1]) x)
                )
                group by block
            ) c on c.block = t.block
        ) x
    )
)
select * from blocks;

-- members of clusters: Who is in a cluster that holds.
create or replace table anon_scratch.main.members as
with placed as (
    select block, closed.seed as seed, unnest(closed.members) as place
    from (select block, unnest(closed) as closed from anon_scratch.main.settled_blocks)
)
select n.unit, s.unit as class_id
from placed p
join anon_scratch.main.neighbours n on n.block = p.block and n.place = p.place
join anon_scratch.main.neighbours s on s.block = p.block and s.place = p.seed;

-- clusters that hold: The clusters that hold, which persons from elsewhere may join; a cluster bears the number of its seed.
create or replace table anon_scratch.main.closed_clusters as
select n.block, n.unit, c.records, c.loss, c.lo1, c.hi1, c.bits2, c.leaf3, c.node1_3, c.node2_3, c.node3_3, c.cost1_3, c.cost2_3, c.cost3_3, c.level3
from (select block, unnest(closed, max_depth := 2) from anon_scratch.main.settled_blocks) c
join anon_scratch.main.neighbours n on n.block = c.block and n.place = c.seed;

-- persons whom no cluster takes: The persons whom no cluster of their block can take.
create or replace table anon_scratch.main.residual as
select n.block, n.unit
from (select block, unnest(homeless) as place from anon_scratch.main.settled_blocks) s
join anon_scratch.main.neighbours n on n.block = s.block and n.place = s.place;

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
        cast((x.records + y.records) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1))) + ((bit_count((x.bits2 | y.bits2)) - 1) * 1000000000) + (case greatest(x.level3, y.level3, case when x.leaf3 = y.leaf3 then 0 when x.node1_3 = y.node1_3 then 1 when x.node2_3 = y.node2_3 then 2 when x.node3_3 = y.node3_3 then 3 else 3 end) when 0 then 0 when 1 then x.cost1_3 when 2 then x.cost2_3 when 3 then x.cost3_3 end)) - x.records * x.loss - y.records * y.loss as hugeint) as distance
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
        cast((x.records + y.records) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1))) + ((bit_count((x.bits2 | y.bits2)) - 1) * 1000000000) + (case greatest(x.level3, y.level3, case when x.leaf3 = y.leaf3 then 0 when x.node1_3 = y.node1_3 then 1 when x.node2_3 = y.node2_3 then 2 when x.node3_3 = y.node3_3 then 3 else 3 end) when 0 then 0 when 1 then x.cost1_3 when 2 then x.cost2_3 when 3 then x.cost3_3 end)) - x.records * x.loss - y.records * y.loss as hugeint) as distance
    from anon_scratch.main.residual t
    join anon_scratch.main.units x on x.unit = t.unit
    join anon_scratch.main.reach r on r.unit = t.unit
    join anon_scratch.main.closed_clusters y on y.unit = r.grp
)
select row_number() over (order by unit, grp) as offer, *
from measured
qualify row_number() over (partition by unit order by distance, grp) <= 8;

-- places: Where residual persons go: the nearest cluster that holds with them, unless suppressing costs less. One person per cluster at a time; the others wait for the next round.
create or replace table anon_scratch.main.placed as
with nearest as (
    select unit, min(distance * 17179869184 + grp) as choice
    from anon_scratch.main.offers
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
        , least(x.lo1, y.lo1) as lo1
        , greatest(x.hi1, y.hi1) as hi1
        , (x.bits2 | y.bits2) as bits2
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
select block, unit, records, loss, lo1, hi1, bits2, leaf3, node1_3, node2_3, node3_3, cost1_3, cost2_3, cost3_3, level3
from anon_scratch.main.closed_clusters
where unit not in (select unit from united)
union all
select block, unit, records, cast(((hi1 - lo1)) + ((bit_count(bits2) - 1) * 1000000000) + (case level3 when 0 then 0 when 1 then cost1_3 when 2 then cost2_3 when 3 then cost3_3 end) as bigint), lo1, hi1, bits2, leaf3, node1_3, node2_3, node3_3, cost1_3, cost2_3, cost3_3, level3
from united;

-- next persons: The persons without a class who try again: who has an offer and no place yet waits for the one who took it; but no round may pass in vain.
create or replace table anon_scratch.main.residual as
select block, unit
from anon_scratch.main.residual
where unit not in (select unit from anon_scratch.main.placed)
    and unit in (select unit from anon_scratch.main.offers)
    and exists (select 1 from anon_scratch.main.placed);

-- exit query of the loop: How many residual persons wait.
select count(*) from anon_scratch.main.residual;
-- end of loop: place persons elsewhere

-- some class: Nobody is in a class. (stops the run if it returns rows)
select 1 where not exists (select 1 from anon_scratch.main.members);

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
    , bit_or(case when u.c2 > 0 then cast(1 as bigint) << u.c2 else 0 end) as bits2
    , min(u.c3) filter (where u.c3 > 0) as lo3
    , max(u.c3) filter (where u.c3 > 0) as hi3
    , bool_or(u.c3 = 0) as null3
from anon_scratch.main.members m
join anon_scratch.main.units u on u.unit = m.unit
group by m.class_id;

-- sets of sex: The sets of values of one categorical attribute that classes with more than one publish: told apart by their bits where a domain is small, else by class.
create or replace table anon_scratch.main.sets_2 as
with pairs as (
    select f.bits, d.code
    from (select distinct bits2 as bits from anon_scratch.main.boxes where lo2 < hi2) f
    join anon_scratch.main.domain_2 d on d.code > 0 and (f.bits >> d.code) & 1 = 1
)
select
    p.bits,
    count(*) as size,
    case when count(*) = (select count(*) from anon_scratch.main.domain_2 where code > 0) then '*'
        else '{' || string_agg(d.label, ', ' order by cast(d.value as varchar)) || '}' end as cell
from pairs p
join anon_scratch.main.domain_2 d on d.code = p.code
group by p.bits;

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
    case when l.level = 3 or (l.low = 1 and l.high = (select max(code) from anon_scratch.main.domain_3))
        then '*' else case when regexp_matches(cast(l.label as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(l.label as varchar), '"', '""') || '"' else cast(l.label as varchar) end end as cell,
    l.leaves / cast(l.all_leaves as double) as share
from shared l;

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
    , case when b.lo2 is null then null when b.lo2 = b.hi2 then low2.label || case when b.null2 then ' or NULL' else '' end else chosen2.cell || case when b.null2 then ' or NULL' else '' end end as cell2
    , case when b.lo3 is null then null when b.lo3 = b.hi3 then low3.label || case when b.null3 then ' or NULL' else '' end else chosen3.cell || case when b.null3 then ' or NULL' else '' end end as cell3
from anon_scratch.main.boxes b
join numbers o on o.class_id = b.class_id
left join anon_scratch.main.domain_1 low1 on low1.code = b.lo1
left join anon_scratch.main.domain_1 high1 on high1.code = b.hi1
left join anon_scratch.main.domain_2 low2 on low2.code = b.lo2
left join anon_scratch.main.sets_2 chosen2 on chosen2.bits = b.bits2
left join anon_scratch.main.domain_3 low3 on low3.code = b.lo3
left join anon_scratch.main.labels_3 chosen3 on chosen3.low = b.lo3 and chosen3.high = b.hi3;

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
