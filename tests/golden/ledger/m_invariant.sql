-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    "age" as q1,
    "born" as q2,
    cast("zip" as varchar) collate "binary" as q3,
    cast("sex" as varchar) collate "binary" as q4,
    cast("ill" as varchar) collate "binary" as s1,
    cast("visit" as varchar) as identity,
    case when "patient" is not null then hash("patient") end as h0
from "anon_source"."main"."people";

-- checks of the source: Counts of the source that forbid going on, each under its number. (stops the run if it returns rows)
with counted as (
    select count(*) filter (where isinf(q2)) as n1, count(*) - count(identity) as n2, count(identity) - count(distinct identity) as n3
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

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
create or replace table anon_scratch.main.coded as
with placed as (
    select
        s.rowid as row_ref
        , ((cast(d1.code as bigint) * 8 + d2.code) * 9 + d3.code) * 3 + d4.code as t1
        , d1.code as c1
        , d2.code as c2
        , d3.code as c3
        , d4.code as c4
        , s.identity
        , s.s1
    from anon_scratch.main.snapshot s
    join anon_scratch.main.domain_1 d1 on d1.value is not distinct from s.q1
    join anon_scratch.main.domain_2 d2 on d2.value is not distinct from s.q2
    join anon_scratch.main.domain_3 d3 on d3.value is not distinct from s.q3
    join anon_scratch.main.domain_4 d4 on d4.value is not distinct from s.q4
),
drawn as (
    select
        md5_number(concat($secret, ':', t1, ':', "identity")) as draw
        , row_ref
        , c1
        , c2
        , c3
        , c4
        , s1
    from placed
)
select row_number() over (order by draw) as row_id, *
from drawn;

-- one value per person: Rows that cannot take part: without a sensitive value, or a second row of a person. (stops the run if it returns rows)
select count(*) - count(s1) as empty, 0 as repeated
from anon_scratch.main.coded
having count(*) - count(s1) > 0 or 0 > 0;

-- digests of persons: Whose row each row is, as a digest that is keyed with the ledger's secret.
create or replace table anon_scratch.main.ledger_digests as
select
    rowid as row_ref,
    md5_number(concat($ledger_key, ':person:', identity)) as person
from anon_scratch.main.snapshot;

-- who stays: Every row with the number of its sensitive value and, for a person who stays, the signature of the earlier release. Who now has a value outside of that signature counts as new.
create or replace table anon_scratch.main.standing as
with valued as (
    select row_id, draw, row_ref, cast(md5_number_lower(cast(s1 as varchar)) >> 1 as bigint) as value
    from anon_scratch.main.coded
)
select r.row_id, r.draw, r.value, d.person, v.signature, h.since
from valued r
join anon_scratch.main.ledger_digests d on d.row_ref = r.row_ref
left join anon_scratch.main.history h on h.person = d.person
left join anon_scratch.main.history_values v on v.signature = h.signature and v.value = r.value;

-- since when: Since which release those who keep their signature have had it.
create or replace table anon_scratch.main.ledger_spells as
select person, since from anon_scratch.main.standing where signature is not null;

-- values of counterfeits: The values a counterfeit may have: those of the table, and those of earlier releases that its type can still hold.
create or replace table anon_scratch.main.known_values as
with listed as (
    select distinct s1 as original from anon_scratch.main.coded where s1 is not null
    union
    select try_cast(text as VARCHAR) from anon_scratch.main.history_texts where try_cast(text as VARCHAR) is not null
)
select cast(md5_number_lower(cast(original as varchar)) >> 1 as bigint) as value, min(original) as original
from listed
group by 1;

-- enough values: Fewer values than a signature needs. (stops the run if it returns rows)
select count(*) as n from anon_scratch.main.known_values having count(*) < 3;

-- earlier signatures: Persons who stay and whose earlier signature has fewer than m values. (stops the run if it returns rows)
select count(*) as persons, min(v.n) as fewest
from anon_scratch.main.standing s
join (select signature, count(*) as n from anon_scratch.main.history_values group by signature) v on v.signature = s.signature
where v.n < 3
having count(*) > 0;

-- division and balancing: How many persons stay with each value of each signature, how many are new with each value (-1), and which values are known (-2).
with staying as (
    select signature, value, count(*) as n from anon_scratch.main.standing where signature is not null group by all
)
select v.signature, v.value, coalesce(s.n, 0) as n
from anon_scratch.main.history_values v
left join staying s on s.signature = v.signature and s.value = v.value
where v.signature in (select signature from staying)
union all
select -1, value, count(*) from anon_scratch.main.standing where signature is null group by value
union all
select -2, value, 0 from anon_scratch.main.known_values
order by 1, 2;
-- then in Python, into quotas: Divide, balance and assign (m-invariance, Xiao and Tao 2007 §5).

-- rows in their buckets: Every row, and every counterfeit, in its bucket. Which new persons go where is drawn with the secret.
create or replace table anon_scratch.main.placed_rows as
with places as (
    select bucket, value, taken, sum(taken) over (partition by value order by bucket rows between unbounded preceding and current row) - taken as first
    from anon_scratch.main.quotas
),
arriving as (
    select row_id, draw, value, row_number() over (partition by value order by md5_number(concat(hex(draw), ':bucket')), row_id) - 1 as rank
    from anon_scratch.main.standing
    where signature is null
),
forged as (
    select bucket, value, unnest(range(forged)) as copy from anon_scratch.main.quotas where forged > 0
),
origin as (
    select min(draw) as draw from anon_scratch.main.coded
)
select s.row_id as id, q.bucket, s.value, s.draw
from anon_scratch.main.standing s
join (select distinct signature, bucket from anon_scratch.main.quotas where signature > 0) q on q.signature = s.signature
union all
select a.row_id, p.bucket, a.value, a.draw
from arriving a
join places p on p.value = a.value and a.rank >= p.first and a.rank < p.first + p.taken
union all
select
    -row_number() over (order by f.bucket, f.value, f.copy),
    f.bucket,
    f.value,
    md5_number(concat(hex(o.draw), ':counterfeit ', f.bucket, ':', f.value, ':', f.copy))
from forged f
cross join origin o;

-- buckets as nodes: Each bucket as one node, with the place of every row in the domains. A counterfeit stands where some row of its bucket stands, and is not counted in any extent.
create or replace table anon_scratch.main.nodes as
with sizes as (
    select bucket, count(*) // count(distinct value) as copies, count(*) filter (where id > 0) as real
    from anon_scratch.main.placed_rows
    group by bucket
),
seats as (
    select p.*, s.copies, s.real, row_number() over (partition by p.bucket, p.id > 0 order by md5_number(concat(hex(p.draw), ':seat')), p.id) as seat
    from anon_scratch.main.placed_rows p
    join sizes s on s.bucket = p.bucket
),
placed_codes as (
    select s.id, s.bucket, s.copies, s.value, s.draw, coalesce(l.id, s.id) as row_id
    from seats s
    left join seats l on s.id < 0 and l.id > 0 and l.bucket = s.bucket and l.seat = (s.seat - 1) % s.real + 1
)
select
    p.id,
    0 as level,
    p.bucket as node,
    cast(p.copies as bigint) as copies,
    p.value,
    p.draw
    , case when r.c1 = 0 then -1 else coalesce(d1.share, 0) end as p1
    , case when r.c2 = 0 then -1 else coalesce(d2.share, 0) end as p2
    , case when r.c3 = 0 then -1 else coalesce(d3.share, 0) end as p3
    , case when r.c4 = 0 then -1 else coalesce(d4.share, 0) end as p4
from placed_codes p
join anon_scratch.main.coded r on r.row_id = p.row_id
join anon_scratch.main.domain_1 d1 on d1.code = r.c1
join anon_scratch.main.domain_2 d2 on d2.code = r.c2
join anon_scratch.main.domain_3 d3 on d3.code = r.c3
join anon_scratch.main.domain_4 d4 on d4.code = r.c4;

-- loop: partition buckets, at most 64 times, until the exit query counts 0
-- halve nodes: Cut every node at the middle of its widest attribute, each value's rows by themselves, so that both halves have equally many rows of every value.
create or replace table anon_scratch.main.nodes as
with widths as (
    select node, max(p1) - min(p1) as w1, max(p2) - min(p2) as w2, max(p3) - min(p3) as w3, max(p4) - min(p4) as w4
    from anon_scratch.main.nodes
    where copies > 1 and id > 0
    group by node
),
chosen as (
    select
        node,
        case greatest(w1, w2, w3, w4)
            when w1 then 1
            when w2 then 2
            when w3 then 3
            when w4 then 4
        end as attribute
    from widths
),
ranked as (
    select
        n.*,
        row_number() over (
            partition by n.node, n.value
            order by case c.attribute when 1 then n.p1 when 2 then n.p2 when 3 then n.p3 when 4 then n.p4 end, n.draw, n.id
        ) as rank
    from anon_scratch.main.nodes n
    join chosen c on c.node = n.node
    where n.copies > 1
)
select
    id,
    level + 1 as level,
    case when rank <= copies // 2 then 2 * node else 2 * node + 1 end as node,
    case when rank <= copies // 2 then copies // 2 else copies - copies // 2 end as copies,
    value,
    draw
    , p1
    , p2
    , p3
    , p4
from ranked
union all
select id, level, node, copies, value, draw, p1, p2, p3, p4
from anon_scratch.main.nodes
where copies = 1;

-- exit query of the loop: Nodes that still have several rows of a value.
select count(*) from anon_scratch.main.nodes where copies > 1;
-- end of loop: partition buckets

-- final groups: The final nodes, numbered.
create or replace table anon_scratch.main.groups as
select id, dense_rank() over (order by level, node) as class_id, value, draw
from anon_scratch.main.nodes;

-- counterfeits: Counterfeits as encoded rows: with the codes of one row of their class, so that no cell changes.
insert into anon_scratch.main.coded
with lent as (
    select g.class_id, min(g.id) as row_id
    from anon_scratch.main.groups g
    where g.id > 0
    group by g.class_id
)
select
    g.id as row_id,
    g.draw,
    g.id as row_ref
    , r.c1
    , r.c2
    , r.c3
    , r.c4
    , v.original
from anon_scratch.main.groups g
join lent l on l.class_id = g.class_id
join anon_scratch.main.coded r on r.row_id = l.row_id
join anon_scratch.main.known_values v on v.value = g.value
where g.id < 0;

-- counterfeits as originals: Counterfeits in the columns of the snapshot, for the checks.
create or replace table anon_scratch.main.counterfeits as
select
    r.row_ref
    , d1.value as q1
    , d2.value as q2
    , d3.value as q3
    , d4.value as q4
    , r.s1
from anon_scratch.main.coded r
join anon_scratch.main.domain_1 d1 on d1.code = r.c1
join anon_scratch.main.domain_2 d2 on d2.code = r.c2
join anon_scratch.main.domain_3 d3 on d3.code = r.c3
join anon_scratch.main.domain_4 d4 on d4.code = r.c4
where r.row_ref < 0;

-- distinct tuples: The distinct quasi-identifier tuples with their counts: what is partitioned instead of rows.
create or replace table anon_scratch.main.units as
with grouped as (
    select row_id, min(c1) as c1, min(c2) as c2, min(c3) as c3, min(c4) as c4, count(*) as n, min(draw) as draw
    from anon_scratch.main.coded
    group by row_id
)
select row_number() over (order by row_id) as unit, *
from grouped;

-- classes: The final nodes as classes of units.
create or replace table anon_scratch.main.members as
select u.unit, g.class_id
from anon_scratch.main.groups g
join anon_scratch.main.units u on u.row_id = g.id;

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
    r.s1 as "ill"
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.row_id = r.row_id
join anon_scratch.main.members m on m.unit = u.unit
join anon_scratch.main.cells c on c.class_id = m.class_id
order by r.draw;
