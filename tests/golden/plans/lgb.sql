-- lines that refer to other files are explained in tests/golden/README.md

-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    "age" as q1,
    cast("ill" as varchar) collate "binary" as s1,
    md5(concat(coalesce(cast(strlen(cast("visit" as varchar)) as varchar), '-1'), ':', cast("visit" as varchar), coalesce(cast(strlen(cast("patient" as varchar)) as varchar), '-1'), ':', cast("patient" as varchar), coalesce(cast(strlen(cast("born" as varchar)) as varchar), '-1'), ':', cast("born" as varchar), coalesce(cast(strlen(cast("zip" as varchar) collate "binary") as varchar), '-1'), ':', cast("zip" as varchar) collate "binary", coalesce(cast(strlen(cast("sex" as varchar) collate "binary") as varchar), '-1'), ':', cast("sex" as varchar) collate "binary", coalesce(cast(strlen(cast("ward" as varchar) collate "binary") as varchar), '-1'), ':', cast("ward" as varchar) collate "binary", coalesce(cast(strlen(cast("hide" as varchar)) as varchar), '-1'), ':', cast("hide" as varchar), coalesce(cast(strlen(cast("ill" as varchar) collate "binary") as varchar), '-1'), ':', cast("ill" as varchar) collate "binary", coalesce(cast(strlen(cast("cost" as varchar)) as varchar), '-1'), ':', cast("cost" as varchar))) as identity,
    case when "patient" is not null then hash("patient") end as h0
from "anon_source"."main"."people";

-- values of age: as in plans/mondrian.sql, values of age
-- suspected identifiers: as in templates/prepare/suspects.sql
-- identifiers in published text: as in templates/prepare/identifiers_in_text.sql

-- checks of the source: Counts of the source that make a run impossible, each under its number. (stops the run if it returns rows)
with counted as (
    select case when count(*) > 0 and count(distinct s1) < 2 then 2 - (count(distinct s1)) else 0 end as n1
    from anon_scratch.main.snapshot
)
select 1 as number, cast(n1 as bigint) as n from counted where n1 > 0;

-- warnings about the source: as in plans/mondrian.sql, warnings about the source

-- values that may not be meant: What columns hold that may not be meant: counts of rows, and how many of the different values are another one but for case, outer blanks or Unicode form, or belong to one row (person) only.
select
    v1.different as "meant.spelled.8.different",
    v1.folded as "meant.spelled.8.folded",
    v1.known as "meant.spelled.8.known",
    v1.single as "meant.spelled.8.single"
-- 4 lines as in plans/mondrian.sql, warnings about the source
            count(distinct nfc_normalize(lower(regexp_replace(cast(cell as varchar), '^[ 	
 ]+|[ 	
 ]+$', '', 'g')))) as folded,
            cast(coalesce(sum(n), 0) as bigint) as known,
            count(*) filter (where n = 1) as single
        from (
            select s1 as cell, count(*) as n
            from anon_scratch.main.snapshot
            where s1 is not null
            group by 1
        ) as cells
    ) as v1;

-- rows that repeat: How many rows have how many copies.
select
    count(*) as "meant.copies.all.different",
    cast(coalesce(sum(n), 0) as bigint) as "meant.copies.all.known",
    count(*) filter (where n = 1) as "meant.copies.several.1",
    count(*) filter (where n = 2) as "meant.copies.several.2",
    count(*) filter (where n = 3) as "meant.copies.several.3",
    count(*) filter (where n = 4) as "meant.copies.several.4",
    count(*) filter (where n = 5) as "meant.copies.several.5",
    count(*) filter (where n = 6) as "meant.copies.several.6",
    count(*) filter (where n = 7) as "meant.copies.several.7",
    count(*) filter (where n = 8) as "meant.copies.several.8",
    count(*) filter (where n = 9) as "meant.copies.several.9",
    count(*) filter (where n % 2 = 0) as "meant.copies.factor.2",
    count(*) filter (where n % 3 = 0) as "meant.copies.factor.3",
    count(*) filter (where n % 5 = 0) as "meant.copies.factor.5",
    count(*) filter (where n % 7 = 0) as "meant.copies.factor.7"
from (
    select count(*) as n
    from anon_scratch.main.snapshot
    group by q1, identity
) as contents;

-- codes of age: as in plans/mondrian.sql, codes of age

-- values as counted: Columns that have more values than were counted for the plan, or NULLs where none were counted, by number, and how many. (stops the run if it returns rows)
with nulls as (
    select count(*) - count(q1) as n1, count(*) as n from anon_scratch.main.snapshot
)
select 1 as number, false as is_null, max(code) - 9 as n from anon_scratch.main.domain_1 having max(code) > 9
union all
select 1, true, n1 from nulls where n1 > 0;

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
-- 4 lines as in plans/mondrian.sql, encode rows
        , cast(d1.code as bigint) as t1
        , d1.code as c1
        , s.identity
        , s.s1
    from anon_scratch.main.snapshot s
    join anon_scratch.main.domain_1 d1 on d1.value is not distinct from s.q1
),
copied as (
    select *, row_number() over (partition by t1, "identity") as copy
    -- 4 lines as in plans/mondrian.sql, encode rows
        md5_number(concat($secret, ':', t1, ':', "identity", ':', copy)) as draw
        , row_ref
        , c1
        , s1
    from copied
)
select row_number() over (order by draw) as row_id, *
from drawn;

-- enough rows: as in plans/mondrian.sql, enough rows

-- sensitive cells of ill: The sensitive cells of one column, numbered by value, with how often each value occurs among them.
create or replace table anon_scratch.main.sensitive_values_1 as
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
from anon_scratch.main.sensitive_values_1
having coalesce(max(q) filter (where value > 0), 0) * 2 > max(q_known)
    or max(q_known) < 2;

-- one leaf of ill: All sensitive values of one column in one leaf, in their order.
create or replace table anon_scratch.main.leaves_1 as
select
    cast(sum(q) over (order by value rows between unbounded preceding and current row) - q as bigint) as start,
    value,
    q as n,
    cast(0 as bigint) as leaf,
    true as open
from anon_scratch.main.sensitive_values_1
where value >= 1;

-- loop: split leaves of ill, at most 64 times, until the exit query counts 0
-- split leaves of ill: Split every open leaf at its lower median, if both sides are non-empty and eligible.
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
-- end of loop: split leaves of ill

-- buckets of ill: How many buckets every leaf gets: as many as its size allows, or fewer if the distribution in a bucket would break a rule.
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

-- deal ill: Assign the sensitive cells of one column to buckets, in the order of their values.
create or replace table anon_scratch.main.placed_1 as
with cells as (
    select r.row_id, md5_number(concat(hex(r.draw), ':tie 1')) as draw, f.value
    from anon_scratch.main.coded r
    join anon_scratch.main.sensitive_values_1 f on f.original is not distinct from r.s1
),
ranked as (
    select row_id, draw, value, row_number() over (order by value, draw, row_id) - 1 as rank
    from cells
    where value >= 1
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
where value < 1;

-- permute ill: Permute the values inside every bucket of one column, and number the buckets in secret-keyed order.
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
select s.row_id, n.number as bucket, f.original as value, case when regexp_matches(cast(f.original as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(f.original as varchar), '"', '""') || '"' else cast(f.original as varchar) end as label
from places s
join places c on c.bucket = s.bucket and c.card = s.seat
join numbers n on n.bucket = s.bucket
join anon_scratch.main.sensitive_values_1 f on f.value = c.value;

-- distinct tuples: The distinct quasi-identifier tuples with their counts: what is partitioned instead of rows.
create or replace table anon_scratch.main.units as
with grouped as (
    select c1, count(*) as n, min(draw) as draw
    from anon_scratch.main.coded
    group by c1
)
select row_number() over (order by c1) as unit, *
from grouped;

-- places in the domains: The domains of all quasi-identifiers in one table, with a row for cells that are sensitive.
-- 4 lines as in plans/mondrian.sql, places in the domains

-- partition: The whole partitioning as one statement: every class is cut until no admissible cut is left.
create or replace table anon_scratch.main.members as
with recursive partition(unit, class_id, level, closed, n, c1) as (
    select unit, 1 as class_id, 0 as level, false as closed, n, c1
from anon_scratch.main.units
    union all (
        with extents as (
    select
        class_id, cast(sum(n) as bigint) as n_all
        , min(c1) as first1, max(c1) as last1
        -- NULL has no position in a range
        , min(case when c1 > 0 then c1 end) as place1
    from partition
    where not closed
    group by class_id
    having sum(n) >= 4
),
-- an attribute with one value in a class cannot be cut there
several as (
    select class_id, n_all, 1 as attribute, last1 as last_code, place1 as first_place
    from extents
    where first1 < last1
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
        case t.attribute when 1 then o.c1 end as code,
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
    -- 6 lines as in plans/lgb.sql, partition
    join turn_2 t on t.class_id = o.class_id
    where not o.closed
    group by 1, 2, 3
),
sums_2 as (
    -- 4 lines as in plans/lgb.sql, partition
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

-- 6 lines as in plans/mondrian.sql, partition
    n, c1
from (
    select
        o.*, t.units_left, t.left_closed, t.right_closed,
        case t.attribute when 1 then o.c1 end <= t.code as is_left
    -- 10 lines as in plans/mondrian.sql, partition

-- extent of classes: The extent of every class: lowest and highest code per attribute, NULLs, size, smallest draw.
-- 8 lines as in plans/mondrian.sql, extent of classes
from anon_scratch.main.members m
join anon_scratch.main.units u on u.unit = m.unit
group by m.class_id;

-- cells of classes: The published cells of every class, one column each, and its number in secret-keyed order.
-- 10 lines as in plans/mondrian.sql, cells of classes
-- 4 lines as in plans/mondrian.sql, cells of classes

-- tuples for the bound: Units of classes that lose something, drawn in proportion to about what they lose (priority sampling, Duffield, Lund and Thorup 2007): those with the highest weight by draw, and the next one, whose priority is the threshold. All units if there are no more than that.
create or replace table anon_scratch.main.bound_sample as
with losing as (
    select class_id, case when b.lo1 < b.hi1 then (b.hi1 - b.lo1) * cast(1111111 as bigint) else 0 end as each from anon_scratch.main.boxes b
-- 22 lines as in plans/mondrian.sql, tuples for the bound

-- what they lose: The drawn units with their extents, and the loss of a row in its own class, which caps its bound.
-- 8 lines as in plans/mondrian.sql, what they lose
    select m.class_id, m.unit, case when u.c1 = 0 then 40000000 else d1.place end as l1, case when u.c1 = 0 then -40000000 else d1.place end as h1
    -- 7 lines as in plans/mondrian.sql, what they lose
    select class_id, min(l1) as l1, max(h1) as h1
    -- 4 lines as in plans/mondrian.sql, what they lose
    select class_id, cast(greatest(h1 - l1, 0) as bigint) as cap from classes
)
select
    h.unit, s.n, c.cap
, h.l1, h.h1
from held h
join anon_scratch.main.bound_sample s on s.unit = h.unit and s.place <= 32
join capped c on c.class_id = h.class_id;

-- tuples near them: The units with which a drawn one may share a class that loses less per row than its own: as a pair they lose less. The nearest of them with their extents, and one more, which shows how far away all others are.
-- 5 lines as in plans/mondrian.sql, tuples near them
    select u.unit, case when u.c1 = 0 then 40000000 else d1.place end as l1, case when u.c1 = 0 then -40000000 else d1.place end as h1
    -- 8 lines as in plans/mondrian.sql, tuples near them
    select distinct true as looked_at from points
),
nearest as (
    -- the loss of the pair and the unit as one number, so that the least are kept without a sort
    select r.unit as r, min(cast(greatest(greatest(r.h1, u.h1) - least(r.l1, u.l1), 0) as bigint) * 4294967296 + u.unit, 33) as found
    from (
        -- combinations of codes that alone lose less than the cap
        select r.*
        from anon_scratch.main.bound_rows r
        join keys u on 0 < r.cap
    ) r
    join points u on greatest(greatest(r.h1, u.h1) - least(r.l1, u.l1), 0) < r.cap
    -- 14 lines as in plans/mondrian.sql, tuples near them
, case when u.c1 = 0 then 40000000 else d1.place end as l1, case when u.c1 = 0 then -40000000 else d1.place end as h1
from placed p
join anon_scratch.main.units u on u.unit = p.unit
join d1 on d1.code = u.c1;

-- what three lose: The least loss of a class with a drawn unit and a near one: the extent of both and a third one, at which k rows are reached. No class made of near units only that has the near one loses less.
-- 11 lines as in plans/mondrian.sql, what three lose
, least(r.l1, x.l1) as l1, greatest(r.h1, x.h1) as h1
    -- 8 lines as in plans/mondrian.sql, what three lose
, least(p.l1, t.l1) as jl1, greatest(p.h1, t.h1) as jh1
    -- 5 lines as in plans/mondrian.sql, what three lose
    select r, unit, n, held, far, more, cast(greatest(jh1 - jl1, 0) as bigint) as lost from triples
-- 16 lines as in plans/mondrian.sql, what three lose

-- least loss of any classes: A lower bound of the mean loss per cell of any grouping into classes of k rows. Every drawn unit counts with its weight, or the threshold of the draw; some standard errors are subtracted.
-- 29 lines as in plans/mondrian.sql, least loss of any classes
        greatest(case when e.r is null then r.cap else greatest(e.first, least(coalesce(s.least, e.far), e.far)) end - 1, 0) as lost
    -- 40 lines as in plans/mondrian.sql, least loss of any classes
            / (cast((select sum(n) from anon_scratch.main.units) as double) * 10000000) as bound
    from rated r
    cross join varied v
) s;

-- write the release: The release: every published row with the cells of its class, shuffled by its draw.
-- 4 lines as in plans/mondrian.sql, write the release
    b1.value as "ill",
    b1.bucket as "ill_bucket"
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.c1 = r.c1
join anon_scratch.main.members m on m.unit = u.unit
join anon_scratch.main.cells c on c.class_id = m.class_id
left join anon_scratch.main.dealt_1 b1 on b1.row_id = r.row_id
order by r.row_id;
