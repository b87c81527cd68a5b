-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    "age" as q1,
    "hide" as f1,
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
    select count(*) filter (where isinf(q2)) as n1, case when count(*) > 1 and count(distinct k1) >= 0.9 * count(*) then count(distinct k1) else 0 end as n2
    from anon_scratch.main.snapshot
)
select 1 as number, cast(n1 as bigint) as n from counted where n1 > 0
union all
select 2 as number, cast(n2 as bigint) as n from counted where n2 > 0;

-- remarks on the source: How often a condition of the policy is NULL, and how often values of key-like columns repeat.
select
    conditions."null_conditions.age",
    k0.different as "different_values.patient",
    k0.known as "known_values.patient",
    k0.most as "most_rows.patient"
from
    (
        select
            count(*) filter (where f1 is null) as "null_conditions.age"
        from anon_scratch.main.snapshot
    ) as conditions
    cross join
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
        , case when coalesce(s.f1, true) then 1 else 0 end as pattern
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
        , c1
        , c2
        , c3
        , c4
        , pattern
        , s1
        , k1
    from copied
)
select row_number() over (order by draw) as row_id, *
from drawn;

-- enough rows: The table has fewer units (rows, or persons) than one class needs. (stops the run if it returns rows)
select count(*) as units from anon_scratch.main.coded having count(*) < 2;

-- patterns of sensitive cells: How many rows share each pattern of sensitive cells (LGB Definition 8, the QI partition).
select pattern, count(*) as n
from anon_scratch.main.coded
group by pattern
order by pattern;
-- then in Python, into patterns: Promote or suppress patterns of sensitive cells that fewer than k rows share.

-- rows that no pattern takes: More rows than may be suppressed have a flag pattern that cannot be published. (stops the run if it returns rows)
select count(*) as stranded
from anon_scratch.main.coded r
join anon_scratch.main.patterns p on p.pattern = r.pattern
where p.target is null
having count(*) > 0;

-- rows under their patterns: Every row under its final pattern: sensitive cells leave the quasi-identifiers for their own column.
create or replace table anon_scratch.main.coded as
select
    r.row_id,
    r.draw,
    r.row_ref,
    p.target as pattern
    , case when (p.target // 1) % 2 = 1 then -1 else r.c1 end as c1
    , case when (p.target // 1) % 2 = 1 then r.c1 end as r1
    , r.c2
    , r.c3
    , r.c4
    , r.s1
    , r.k1
from anon_scratch.main.coded r
join anon_scratch.main.patterns p on p.pattern = r.pattern
where p.target is not null;

-- sensitive cells of age: The sensitive cells of one column, numbered by value, with how often each value occurs among them.
create or replace table anon_scratch.main.sensitive_values_1 as
with counted as (
    select r1 as original, count(*) as q
    from anon_scratch.main.coded
    where r1 is not null
    group by 1
),
ordered as (
    select original, q, original = 0 as missing
    from counted
)
select
    cast(case when missing then 0 else row_number() over (partition by missing order by original) end as integer) as value,
    original,
    cast(q as bigint) as q,
    cast(coalesce(sum(q) filter (where not missing) over (), 0) as bigint) as q_known,
    cast(sum(q) over () as bigint) as q_size,
    cast(count(*) filter (where not missing) over () as integer) as m
from ordered;

-- eligibility of age: The sensitive cells of a column cannot be dealt into buckets of different values: one value is too frequent (Xiao and Tao 2007, m-eligible), or there are too few of them. (stops the run if it returns rows)
select
    cast(max(q) filter (where value > 0) as bigint) as most,
    max(q_known) as known,
    max(q_size) as cells,
    max(m) as different
from anon_scratch.main.sensitive_values_1
having coalesce(max(q) filter (where value > 0), 0) * 2 > max(q_known)
    or max(q_known) < 2;

-- one leaf of age: All sensitive values of one column in one leaf, in their order.
create or replace table anon_scratch.main.leaves_1 as
select
    cast(sum(q) over (order by value rows between unbounded preceding and current row) - q as bigint) as start,
    value,
    q as n,
    cast(0 as bigint) as leaf,
    true as open
from anon_scratch.main.sensitive_values_1
where value > 0;

-- loop: split leaves of age, at most 64 times, until the exit query counts 0
-- split leaves of age: Split every open leaf at its lower median, if both sides are non-empty and eligible.
create or replace table anon_scratch.main.leaves_1 as
with sized as (
    select
        *,
        sum(n) over (partition by leaf) as n_leaf
    from anon_scratch.main.leaves_1
),
sided as (
    select
        *,
        -- the lower median is the first value up to which there is at least half of the leaf
        case when 2 * (start - leaf) < n_leaf then 0 else 1 end as side
    from sized
    where open
),
sides as (
    select leaf, side, min(start) - min(leaf) as cut
    from sided
    group by leaf, side
    having max(n) * 2 <= sum(n)
),
chosen as (
    select leaf, max(cut) as cut from sides group by leaf having count(*) = 2
),
parted as (
    select
        s.start, s.value, s.n, s.leaf, c.cut,
        least(s.n, greatest(s.leaf + c.cut - s.start, 0)) as n_left
    from sized s
    left join chosen c on c.leaf = s.leaf
)
select start, value, n, leaf, false as open from parted where cut is null
union all
select start, value, cast(n_left as bigint), leaf, true from parted where cut is not null and n_left > 0
union all
select cast(start + n_left as bigint), value, cast(n - n_left as bigint), cast(leaf + cut as bigint), true
from parted where cut is not null and n_left < n;

-- exit query of the loop: How many leaves may still be split.
select count(*) from anon_scratch.main.leaves_1 where open;
-- end of loop: split leaves of age

-- buckets of age: How many buckets every leaf gets: as many as its size allows, fewer where a bucket would stray too far.
create or replace table anon_scratch.main.quotas_1 as
with sized as (
    select leaf, cast(sum(n) as bigint) as n
    from anon_scratch.main.leaves_1
    group by leaf
),
fine as (
    select leaf, cast(floor(n / 2) as bigint) as buckets from sized
),
quota as (
    select s.leaf, s.n, coalesce(f.buckets, 1) as buckets
    from sized s left join fine f on f.leaf = s.leaf
)
select
    leaf, n, buckets,
    cast(sum(buckets) over (order by leaf rows between unbounded preceding and current row) - buckets as bigint) as first
from quota;

-- deal age: Deal the sensitive cells of one column over the buckets, in the order of their values.
create or replace table anon_scratch.main.placed_1 as
with cells as (
    select r.row_id, md5_number(concat(hex(r.draw), ':tie 1')) as draw, f.value
    from anon_scratch.main.coded r
    join anon_scratch.main.sensitive_values_1 f on f.original is not distinct from r.r1
    where r.r1 is not null
),
ranked as (
    select row_id, draw, value, row_number() over (order by value, draw, row_id) - 1 as rank
    from cells
    where value > 0
),
total as (
    select sum(buckets) as buckets from anon_scratch.main.quotas_1
)
select
    r.row_id, r.draw, r.value,
    cast(q.first + (r.rank - q.leaf) % q.buckets as bigint) as bucket
from ranked r
join anon_scratch.main.leaves_1 l on l.value = r.value and r.rank >= l.start and r.rank < l.start + l.n
join anon_scratch.main.quotas_1 q on q.leaf = l.leaf
union all
select
    row_id, draw, value,
    cast((row_number() over (order by draw, row_id) - 1) % (select buckets from total) as bigint)
from cells
where value = 0;

-- permute age: Permute the values inside every bucket of one column, and number the buckets in secret-keyed order.
create or replace table anon_scratch.main.dealt_1 as
with places as (
    select
        row_id, bucket, value, draw,
        row_number() over (partition by bucket order by md5_number(concat(hex(draw), ':row')), row_id) as seat,
        row_number() over (partition by bucket order by md5_number(concat(hex(draw), ':value')), row_id) as card
    from anon_scratch.main.placed_1
),
numbers as (
    select bucket, row_number() over (order by md5_number(concat(hex(draw), ':bucket')), bucket) as number
    from (select bucket, min(draw) as draw from anon_scratch.main.placed_1 group by bucket)
)
select s.row_id, n.number as bucket, d.value as value, d.label as label
from places s
join places c on c.bucket = s.bucket and c.card = s.seat
join numbers n on n.bucket = s.bucket
join anon_scratch.main.sensitive_values_1 f on f.value = c.value
join anon_scratch.main.domain_1 d on d.code = f.original;

-- sensitive cells of ill: The sensitive cells of one column, numbered by value, with how often each value occurs among them.
create or replace table anon_scratch.main.sensitive_values_2 as
with counted as (
    select s1 as original, count(*) as q
    from anon_scratch.main.coded
    group by 1
),
ordered as (
    select original, q, original is null as missing
    from counted
)
select
    cast(case when missing then 0 else row_number() over (partition by missing order by original) end as integer) as value,
    original,
    cast(q as bigint) as q,
    cast(coalesce(sum(q) filter (where not missing) over (), 0) as bigint) as q_known,
    cast(sum(q) over () as bigint) as q_size,
    cast(count(*) filter (where not missing) over () as integer) as m
from ordered;

-- eligibility of ill: The sensitive cells of a column cannot be dealt into buckets of different values: one value is too frequent (Xiao and Tao 2007, m-eligible), or there are too few of them. (stops the run if it returns rows)
select
    cast(max(q) filter (where value > 0) as bigint) as most,
    max(q_known) as known,
    max(q_size) as cells,
    max(m) as different
from anon_scratch.main.sensitive_values_2
having coalesce(max(q) filter (where value > 0), 0) * 2 > max(q_known)
    or max(q_known) < 2;

-- one leaf of ill: All sensitive values of one column in one leaf, in their order.
create or replace table anon_scratch.main.leaves_2 as
select
    cast(sum(q) over (order by value rows between unbounded preceding and current row) - q as bigint) as start,
    value,
    q as n,
    cast(0 as bigint) as leaf,
    true as open
from anon_scratch.main.sensitive_values_2
where value > 0;

-- loop: split leaves of ill, at most 64 times, until the exit query counts 0
-- split leaves of ill: Split every open leaf at its lower median, if both sides are non-empty and eligible.
create or replace table anon_scratch.main.leaves_2 as
with sized as (
    select
        *,
        sum(n) over (partition by leaf) as n_leaf
    from anon_scratch.main.leaves_2
),
sided as (
    select
        *,
        -- the lower median is the first value up to which there is at least half of the leaf
        case when 2 * (start - leaf) < n_leaf then 0 else 1 end as side
    from sized
    where open
),
sides as (
    select leaf, side, min(start) - min(leaf) as cut
    from sided
    group by leaf, side
    having max(n) * 2 <= sum(n)
),
chosen as (
    select leaf, max(cut) as cut from sides group by leaf having count(*) = 2
),
parted as (
    select
        s.start, s.value, s.n, s.leaf, c.cut,
        least(s.n, greatest(s.leaf + c.cut - s.start, 0)) as n_left
    from sized s
    left join chosen c on c.leaf = s.leaf
)
select start, value, n, leaf, false as open from parted where cut is null
union all
select start, value, cast(n_left as bigint), leaf, true from parted where cut is not null and n_left > 0
union all
select cast(start + n_left as bigint), value, cast(n - n_left as bigint), cast(leaf + cut as bigint), true
from parted where cut is not null and n_left < n;

-- exit query of the loop: How many leaves may still be split.
select count(*) from anon_scratch.main.leaves_2 where open;
-- end of loop: split leaves of ill

-- buckets of ill: How many buckets every leaf gets: as many as its size allows, fewer where a bucket would stray too far.
create or replace table anon_scratch.main.quotas_2 as
with sized as (
    select leaf, cast(sum(n) as bigint) as n
    from anon_scratch.main.leaves_2
    group by leaf
),
fine as (
    select leaf, cast(floor(n / 2) as bigint) as buckets from sized
),
quota as (
    select s.leaf, s.n, coalesce(f.buckets, 1) as buckets
    from sized s left join fine f on f.leaf = s.leaf
)
select
    leaf, n, buckets,
    cast(sum(buckets) over (order by leaf rows between unbounded preceding and current row) - buckets as bigint) as first
from quota;

-- deal ill: Deal the sensitive cells of one column over the buckets, in the order of their values.
create or replace table anon_scratch.main.placed_2 as
with cells as (
    select r.row_id, md5_number(concat(hex(r.draw), ':tie 2')) as draw, f.value
    from anon_scratch.main.coded r
    join anon_scratch.main.sensitive_values_2 f on f.original is not distinct from r.s1
),
ranked as (
    select row_id, draw, value, row_number() over (order by value, draw, row_id) - 1 as rank
    from cells
    where value > 0
),
total as (
    select sum(buckets) as buckets from anon_scratch.main.quotas_2
)
select
    r.row_id, r.draw, r.value,
    cast(q.first + (r.rank - q.leaf) % q.buckets as bigint) as bucket
from ranked r
join anon_scratch.main.leaves_2 l on l.value = r.value and r.rank >= l.start and r.rank < l.start + l.n
join anon_scratch.main.quotas_2 q on q.leaf = l.leaf
union all
select
    row_id, draw, value,
    cast((row_number() over (order by draw, row_id) - 1) % (select buckets from total) as bigint)
from cells
where value = 0;

-- permute ill: Permute the values inside every bucket of one column, and number the buckets in secret-keyed order.
create or replace table anon_scratch.main.dealt_2 as
with places as (
    select
        row_id, bucket, value, draw,
        row_number() over (partition by bucket order by md5_number(concat(hex(draw), ':row')), row_id) as seat,
        row_number() over (partition by bucket order by md5_number(concat(hex(draw), ':value')), row_id) as card
    from anon_scratch.main.placed_2
),
numbers as (
    select bucket, row_number() over (order by md5_number(concat(hex(draw), ':bucket')), bucket) as number
    from (select bucket, min(draw) as draw from anon_scratch.main.placed_2 group by bucket)
)
select s.row_id, n.number as bucket, f.original as value, case when regexp_matches(cast(f.original as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(f.original as varchar), '"', '""') || '"' else cast(f.original as varchar) end as label
from places s
join places c on c.bucket = s.bucket and c.card = s.seat
join numbers n on n.bucket = s.bucket
join anon_scratch.main.sensitive_values_2 f on f.value = c.value;

-- distinct tuples: The distinct quasi-identifier tuples with their counts: what is partitioned instead of rows.
create or replace table anon_scratch.main.units as
with grouped as (
    select pattern, c1, c2, c3, c4, count(*) as n, min(draw) as draw
    from anon_scratch.main.coded
    group by pattern, c1, c2, c3, c4
)
select row_number() over (order by pattern, c1, c2, c3, c4) as unit, *
from grouped;

-- places in the domains: The domains of all quasi-identifiers in one table, with a row for cells that are sensitive.
create or replace table anon_scratch.main.positions as
select 1 as attribute, code, share, size
, 0 as a1, 0 as z1, 0 as a2, 0 as z2, 0 as a3, 0 as z3, 0 as a4, 0 as z4, 0 as a5, 0 as z5
from anon_scratch.main.domain_1
union all
select 1, -1, null, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
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
with recursive partition(unit, class_id, level, closed, n, c1, c2, c3, c4) as (
    select unit, min(unit) over (partition by pattern) as class_id, 0 as level, false as closed, n, c1, c2, c3, c4
from anon_scratch.main.units
    union all (
        with extents as (
    select
        class_id, cast(sum(n) as bigint) as n_all
        , min(c1) as first1, max(c1) as last1
        -- NULL has no place among the values of a range
        , min(case when c1 > 0 then c1 end) as place1
        , min(c2) as first2, max(c2) as last2
        -- NULL has no place among the values of a range
        , min(case when c2 > 0 then c2 end) as place2
        , min(c3) as first3, max(c3) as last3
        -- NULL has no place among the values of a range
        , min(case when c3 >= 0 then c3 end) as place3
        , min(c4) as first4, max(c4) as last4
        -- NULL has no place among the values of a range
        , min(case when c4 >= 0 then c4 end) as place4
    from partition
    where not closed
    group by class_id
    having sum(n) >= 4
),
-- what has one value goes
several as (
    select class_id, n_all, 1 as attribute, last1 as last_code, place1 as first_place
    from extents
    where first1 < last1
    union all
    select class_id, n_all, 2 as attribute, last2 as last_code, place2 as first_place
    from extents
    where first2 < last2
    union all
    select class_id, n_all, 3 as attribute, last3 as last_code, place3 as first_place
    from extents
    where first3 < last3
    union all
    select class_id, n_all, 4 as attribute, last4 as last_code, place4 as first_place
    from extents
    where first4 < last4
),
widths as (
    select
        s.class_id, s.attribute, s.n_all, s.last_code,
        cast(coalesce(l.share - f.share, 0) as decimal(18, 8)) as width
    from several s
    left join anon_scratch.main.positions f on f.attribute = s.attribute and f.code = s.first_place
    left join anon_scratch.main.positions l on l.attribute = s.attribute and l.code = s.last_code
),
-- the widest attribute first
turn_1 as (
    select w.class_id, min(w.attribute) as attribute
    from widths w
    join (select class_id, max(width) as width from widths group by class_id) m on m.class_id = w.class_id and m.width = w.width
    group by w.class_id
),
counts_1 as (
    select
        o.class_id, t.attribute,
        case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 when 4 then o.c4 end as code,
        cast(sum(o.n) as bigint) as n,
        count(*) as units
    from partition o
    join turn_1 t on t.class_id = o.class_id
    where not o.closed
    group by 1, 2, 3
),
sums_1 as (
    select
        class_id, attribute, code, n,
        cast(sum(n) over below as bigint) as n_left,
        cast(sum(units) over below as bigint) as units_left
    from counts_1
    window below as (partition by class_id, attribute order by code rows between unbounded preceding and current row)
),
middles_1 as (
    select s.class_id, s.attribute, s.code, s.n_left, s.units_left, w.n_all, w.width
    from sums_1 s
    join widths w on w.class_id = s.class_id and w.attribute = s.attribute
    where n_left >= 2 and n_all - n_left >= 2 and 2 * n_left >= n_all and 2 * (n_left - n) < n_all and code < last_code
),

turn_2 as (
    select w.class_id, w.attribute
    from widths w
    join turn_1 t on t.class_id = w.class_id and t.attribute <> w.attribute
    left join middles_1 f on f.class_id = w.class_id
    where f.class_id is null
),
counts_2 as (
    select
        o.class_id, t.attribute,
        case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 when 4 then o.c4 end as code,
        cast(sum(o.n) as bigint) as n,
        count(*) as units
    from partition o
    join turn_2 t on t.class_id = o.class_id
    where not o.closed
    group by 1, 2, 3
),
sums_2 as (
    select
        class_id, attribute, code, n,
        cast(sum(n) over below as bigint) as n_left,
        cast(sum(units) over below as bigint) as units_left
    from counts_2
    window below as (partition by class_id, attribute order by code rows between unbounded preceding and current row)
),
middles_2 as (
    select s.class_id, s.attribute, s.code, s.n_left, s.units_left, w.n_all, w.width
    from sums_2 s
    join widths w on w.class_id = s.class_id and w.attribute = s.attribute
    where n_left >= 2 and n_all - n_left >= 2 and 2 * n_left >= n_all and 2 * (n_left - n) < n_all and code < last_code
),

widest_2 as (
    select m.class_id, min(m.attribute) as attribute
    from middles_2 m
    join (select class_id, max(width) as width from middles_2 group by class_id) b on b.class_id = m.class_id and b.width = m.width
    group by m.class_id
),
cuts as (
    select
        m.class_id, m.attribute, m.code, false as single, m.units_left,
        -- a half that is too small to be cut again is final at once
        m.n_left < 4 as left_closed,
        m.n_all - m.n_left < 4 as right_closed
    from (
        select * from middles_1
        union all
        select t.* from middles_2 t join widest_2 w on w.class_id = t.class_id and w.attribute = t.attribute
    ) m
)


        select
    unit,
    case when is_left then class_id else class_id + units_left end as class_id,
    level + 1 as level,
    case when is_left then left_closed else right_closed end as closed,
    n, c1, c2, c3, c4
from (
    select
        o.*, t.units_left, t.left_closed, t.right_closed,
        case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 when 4 then o.c4 end <= t.code as is_left
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
    , bool_or(u.c1 = -1) as f1
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
    coalesce(b1.label, c.cell1) as "age",
    b1.bucket as "age_bucket",
    c.cell2 as "born",
    c.cell3 as "zip",
    c.cell4 as "sex",
    b2.value as "ill",
    b2.bucket as "ill_bucket",
    r.k1 as "ward"
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.c1 = r.c1 and u.c2 = r.c2 and u.c3 = r.c3 and u.c4 = r.c4
join anon_scratch.main.members m on m.unit = u.unit
join anon_scratch.main.cells c on c.class_id = m.class_id
left join anon_scratch.main.dealt_1 b1 on b1.row_id = r.row_id
left join anon_scratch.main.dealt_2 b2 on b2.row_id = r.row_id
order by r.row_id;
