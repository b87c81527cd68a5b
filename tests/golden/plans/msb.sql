-- lines that refer to other files are explained in tests/golden/README.md

-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    "age" as q1,
    cast("sex" as varchar) collate "binary" as s1,
    cast("ill" as varchar) collate "binary" as s2,
    md5(concat(coalesce(cast(strlen(cast("visit" as varchar)) as varchar), '-1'), ':', cast("visit" as varchar), coalesce(cast(strlen(cast("patient" as varchar)) as varchar), '-1'), ':', cast("patient" as varchar), coalesce(cast(strlen(cast("born" as varchar)) as varchar), '-1'), ':', cast("born" as varchar), coalesce(cast(strlen(cast("zip" as varchar) collate "binary") as varchar), '-1'), ':', cast("zip" as varchar) collate "binary", coalesce(cast(strlen(cast("sex" as varchar) collate "binary") as varchar), '-1'), ':', cast("sex" as varchar) collate "binary", coalesce(cast(strlen(cast("ward" as varchar) collate "binary") as varchar), '-1'), ':', cast("ward" as varchar) collate "binary", coalesce(cast(strlen(cast("hide" as varchar)) as varchar), '-1'), ':', cast("hide" as varchar), coalesce(cast(strlen(cast("ill" as varchar) collate "binary") as varchar), '-1'), ':', cast("ill" as varchar) collate "binary", coalesce(cast(strlen(cast("cost" as varchar)) as varchar), '-1'), ':', cast("cost" as varchar))) as identity,
    case when "patient" is not null then hash("patient") end as h0
from "anon_source"."main"."people";

-- values of age: as in plans/mondrian.sql, values of age
-- suspected identifiers: as in templates/prepare/suspects.sql
-- identifiers in published text: as in templates/prepare/identifiers_in_text.sql

-- checks of the source: Counts of the source that make a run impossible, each under its number. (stops the run if it returns rows)
with counted as (
    select case when count(*) > 0 and count(distinct s1) < 2 then 2 - (count(distinct s1)) else 0 end as n1, case when count(*) > 0 and count(distinct s2) < 2 then 2 - (count(distinct s2)) else 0 end as n2
    from anon_scratch.main.snapshot
)
select 1 as number, cast(n1 as bigint) as n from counted where n1 > 0
union all
select 2 as number, cast(n2 as bigint) as n from counted where n2 > 0;

-- warnings about the source: as in plans/mondrian.sql, warnings about the source

-- values that may not be meant: What columns hold that may not be meant: counts of rows, and how many of the different values are another one but for case, outer blanks or Unicode form, or belong to one row (person) only.
select
    v1.different as "meant.spelled.5.different",
    v1.folded as "meant.spelled.5.folded",
    v1.known as "meant.spelled.5.known",
    v1.single as "meant.spelled.5.single",
    v2.different as "meant.spelled.8.different",
    v2.folded as "meant.spelled.8.folded",
    v2.known as "meant.spelled.8.known",
    v2.single as "meant.spelled.8.single"
-- 4 lines as in plans/mondrian.sql, warnings about the source
            -- 12 lines as in plans/lgb.sql, values that may not be meant
    cross join
    (
        select
            count(*) as different,
            -- 6 lines as in plans/lgb.sql, values that may not be meant
            select s2 as cell, count(*) as n
            from anon_scratch.main.snapshot
            where s2 is not null
            group by 1
        ) as cells
    ) as v2;

-- rows that repeat: as in plans/lgb.sql, rows that repeat
-- codes of age: as in plans/mondrian.sql, codes of age
-- values as counted: as in plans/lgb.sql, values as counted

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
-- 4 lines as in plans/mondrian.sql, encode rows
        -- 4 lines as in plans/lgb.sql, encode rows
        , s.s2
    -- 5 lines as in plans/lgb.sql, encode rows
    -- 4 lines as in plans/mondrian.sql, encode rows
        -- 4 lines as in plans/lgb.sql, encode rows
        , s2
    -- 4 lines as in plans/mondrian.sql, encode rows

-- levels of sex: The values of one sensitive column, with the security level that the policy gives each and the l of that level (Xiao and Li 2020, Definitions 1-3). A NULL that does not count has code 0 and asks for nothing.
create or replace table anon_scratch.main.msb_values_1 as
with counted as (
    select s1 as value, count(*) as n
    from anon_scratch.main.coded
    group by s1
),
leveled as (
    select
        *,
        0 as listed,
        value is null as blank
    from counted
)
select
    cast(case when blank then 0 else row_number() over (partition by blank order by value nulls last) end as integer) as code,
    value,
    n,
    listed,
    cast(case
        when blank then 0
        else 0
    end as integer) as rank,
    cast(case
        when blank then 0
        else 2
    end as integer) as need
from leveled;

-- levels of ill: The values of one sensitive column, with the security level that the policy gives each and the l of that level (Xiao and Li 2020, Definitions 1-3). A NULL that does not count has code 0 and asks for nothing.
create or replace table anon_scratch.main.msb_values_2 as
with counted as (
    select s2 as value, count(*) as n
    from anon_scratch.main.coded
    group by s2
-- 22 lines as in plans/msb.sql, levels of sex

-- buckets: The multi-dimensional buckets: one per vector of sensitive values (Xiao and Li 2020, Definition 13), numbered in an order that the run's secret draws.
create or replace table anon_scratch.main.msb_buckets as
with vectors as (
    select
        s1,
        s2,
        count(*) as n,
        min(draw) as draw
    from anon_scratch.main.coded
    group by s1, s2
)
select
    row_number() over (order by md5_number(concat(hex(draw), ':bucket'))) as bucket,
    x.n,
    d1.code as v1,
    d1.need as need1,
    d2.code as v2,
    d2.need as need2,
    greatest(d1.rank, d2.rank) as level,
    greatest(2, d1.need, d2.need) as target,
d1.code > 0 and d2.code > 0 as complete
from vectors x
join anon_scratch.main.msb_values_1 d1 on d1.value is not distinct from x.s1
join anon_scratch.main.msb_values_2 d2 on d2.value is not distinct from x.s2;

-- enough rows for a group: No bucket of complete records can begin a group of as many records as it needs. (stops the run if it returns rows)
select coalesce(min(target), 2) as least, coalesce(cast(sum(n) as bigint), 0) as records
from anon_scratch.main.msb_buckets
where complete
having count(*) = 0 or min(target) > sum(n);

-- records left: The remaining records: at first all of them.
create or replace table anon_scratch.main.msb_left as
select bucket, n from anon_scratch.main.msb_buckets;

-- no types of groups yet: No group is formed yet.
create or replace table anon_scratch.main.msb_types as
select cast(null as bigint) as type, cast(null as bigint) as groups
where false;

-- no members of groups yet: No type of group has members yet.
create or replace table anon_scratch.main.msb_members as
select cast(null as bigint) as type, cast(null as bigint) as bucket, cast(null as bigint) as c
where false;

-- diversity of sex: A column that cannot be diverse: the shares of 1/l of its values do not add up to a whole group, or a value is so frequent that more rows would have to be suppressed than is allowed. After x of its c rows are suppressed, a value fits into the rest if (c - x) l <= n - x. (stops the run if it returns rows)
with known as (select * from anon_scratch.main.msb_values_1 where code > 0),
amounts as (
    select
        cast(coalesce(sum(2 // need), 0) as bigint) as shares,
        count(*) as different,
        cast(coalesce(sum(n), 0) as bigint) as known
    from known
),
frequent as (
    select
        k.need,
        k.n,
        case
            when k.need > 1 and k.n * k.need > a.known then least(k.n, (k.n * k.need - a.known + k.need - 2) // (k.need - 1))
            else 0
        end as over
    from known k
    cross join amounts a
    qualify row_number() over (order by over desc, k.need, k.n desc, k.code) = 1
),
total as (select cast(sum(n) as bigint) as records from anon_scratch.main.msb_values_1)
select a.shares < 2 as poor, a.different, f.need, f.n, a.known, f.over
from amounts a
cross join total t
left join frequent f on true
where a.shares < 2 or f.over > cast('0.000000000000' as decimal(18, 12)) * t.records;

-- diversity of ill: A column that cannot be diverse: the shares of 1/l of its values do not add up to a whole group, or a value is so frequent that more rows would have to be suppressed than is allowed. After x of its c rows are suppressed, a value fits into the rest if (c - x) l <= n - x. (stops the run if it returns rows)
with known as (select * from anon_scratch.main.msb_values_2 where code > 0),
-- 19 lines as in plans/msb.sql, diversity of sex
total as (select cast(sum(n) as bigint) as records from anon_scratch.main.msb_values_2)
-- 5 lines as in plans/msb.sql, diversity of sex

-- first scale: The scale before the first pass: four times the one it will have.
create or replace table anon_scratch.main.msb_scale as
select 4 * greatest(1, cast(sum(n) as bigint) // 4000) as q, cast(null as bigint) as most, cast(1 as bigint) as blocks
from anon_scratch.main.msb_left;

-- loop: form groups, at most 64 times, until the exit query counts 0
-- next scale: The next pass: a quarter of the last scale, in blocks that are grouped side by side. A block has room for several of the largest groups, and fewer records the more there are in all, which bounds the work. A bucket brings at most as many records as the division by the last scale can leave over, so that records which that pass failed to group are not all tried again.
create or replace table anon_scratch.main.msb_scale as
with chosen as (
    select
        greatest(1, q // 4) as q,
        case when most is null or q = 1 then 4611686018427387904 else q // greatest(1, q // 4) end as most
    from anon_scratch.main.msb_scale
),
amount as (
    select
        coalesce(cast(sum(least(l.n // c.q, c.most)) as bigint), 0) as records,
        coalesce(max(b.target), 1) as largest
    from anon_scratch.main.msb_left l
    join anon_scratch.main.msb_buckets b on b.bucket = l.bucket
    cross join chosen c
    where b.complete
)
select
    c.q,
    c.most,
    greatest(1, a.records // greatest(8 * a.largest, least(80, 30000000 // greatest(1, a.records)))) as blocks
from chosen c
cross join amount a;

-- stock of a pass: The input of one pass of the grouping: the records that are left, by scale and block, with the dimension capacity of each of their values (Xiao and Li 2020, Definition 13).
create or replace table anon_scratch.main.msb_stock as
with scaled as (
    select l.bucket, least(l.n // s.q, s.most) as n, s.blocks
    from anon_scratch.main.msb_left l
    join anon_scratch.main.msb_buckets b on b.bucket = l.bucket
    cross join anon_scratch.main.msb_scale s
    where b.complete and l.n >= s.q
),
placed as (
    select bucket, n, blocks, cast(sum(n) over (order by bucket rows unbounded preceding) as bigint) - n as first_place
    from scaled
),
dealt as (
    -- record i of a bucket goes to the block of its place; as bucket numbers are drawn, blocks are samples
    select (p.first_place + i.i) % p.blocks as block, p.bucket, count(*) as n
    from placed p, unnest(range(p.n)) as i(i)
    group by block, p.bucket
)
select
    d.block,
    d.bucket,
    cast(d.n as integer) as n,
    b.v1,
    b.need1,
    cast(sum(d.n) over (partition by d.block, b.v1) as integer) as cap1,
    b.v2,
    b.need2,
    cast(sum(d.n) over (partition by d.block, b.v2) as integer) as cap2,
    b.level,
    b.target
from dealt d
join anon_scratch.main.msb_buckets b on b.bucket = d.bucket;

-- form groups: The grouping phase, one record an iteration, over bucket counts: the best unshielded bucket gives a record to the open group of its block; a bucket is shielded while one more of any of its values would be more than a full group can hold, (c(v)+1) l_v > L (Xiao and Li 2020, Algorithms 1-3).
create or replace table anon_scratch.main.msb_formed as
-- a row is a bucket with n records left and what is open in its block. A bucket that gives a record goes
-- on under a new key, so its earlier row stays in the result and shows which group took the record
with recursive state using key (block, bucket, n) as (
    select
        block,
        bucket,
        n,
        level,
        target,
        v1,
        need1,
        cap1,
        0 as use1,
        v2,
        need2,
        cap2,
        0 as use2,
        0 as took,
        0 as began,
        0 as grp,
        0 as size,
        0 as full_size
    from anon_scratch.main.msb_stock
    union all
    select
        block,
        bucket,
        case when taken is null then n + took when bucket = taken.bucket then n - 1 else n end,
        -- 4 lines as in plans/msb.sql, form groups
        cap1 + case when taken is null then use1 when v1 = taken.v1 then -1 else 0 end,
        case when closed then 0 when v1 = taken.v1 then use1 + 1 else use1 end,
        v2,
        need2,
        cap2 + case when taken is null then use2 when v2 = taken.v2 then -1 else 0 end,
        case when closed then 0 when v2 = taken.v2 then use2 + 1 else use2 end,
        case when closed then 0 when bucket = taken.bucket then took + 1 else took end,
        -- 1: the open group's first record is of this bucket; 2: no group with it as the first was filled
        case
            when began = 2 then 2
            when taken is null then 2 * began
            when closed then 0
            when size = 0 and bucket = taken.bucket then 1
            else began
        end,
        grp + cast(closed as integer),
        case when closed then 0 else size + 1 end,
        taken.full_size
    from (
        select s.*, best.taken, best.taken is null or s.size + 1 = best.taken.full_size as closed
        from state s
        join (
            select
                block,
                case when max(score) > 0 then arg_max(bucket_row, score) end as taken,
                max(size) as size
            from (
                select
                    block,
                    size,
                    struct_pack(
                        bucket := bucket,
                        full_size := case when size = 0 then target else full_size end
                        , v1 := v1
                        , v2 := v2
                    ) as bucket_row,
                    case
                        when n > 0 and case
                            when size = 0 then began = 0
                            else (use1 + 1) * need1 <= full_size and (use2 + 1) * need2 <= full_size
                        end then (cast(cap1 + cap2 + n as bigint)) * 4294967296 - bucket
                        else 0
                    end as score
                from state
            )
            group by block
        ) best on best.block = s.block
        where (best.taken is not null or best.size > 0) and (s.n > 0 or s.took > 0)
    )
),
taken as (
    select block, grp, bucket, n, size, target, max(grp) over (partition by block) as last_group
    from state
),
groups as (
    -- what was open at the end, if anything, is no group
    select block, grp, bucket, cast(count(*) as integer) as c, max(target) filter (where size = 0) as full_size
    from taken
    where n > 0 and grp < last_group
    group by block, grp, bucket
)
select block, grp, bucket, c
from groups
qualify sum(c) over (partition by block, grp) = max(full_size) over (partition by block, grp);

-- types of groups: The groups of a pass by type: groups of equal buckets are one type, as many times as they were formed.
create or replace table anon_scratch.main.msb_arrived as
with signed as (
    select block, grp, string_agg(concat(bucket, ' ', c), ',' order by bucket) as held
    from anon_scratch.main.msb_formed
    group by block, grp
),
kinds as (
    select held, count(*) as n, min(struct_pack(block := block, grp := grp)) as first_group
    from signed
    group by held
)
select
    m.known + dense_rank() over (order by k.first_group.block, k.first_group.grp) as type,
    k.n * s.q as groups,
    f.bucket,
    f.c
from kinds k
join anon_scratch.main.msb_formed f on f.block = k.first_group.block and f.grp = k.first_group.grp
cross join anon_scratch.main.msb_scale s
cross join (select coalesce(max(type), 0) as known from anon_scratch.main.msb_types) m;

-- add types: The types of a pass join the others.
insert into anon_scratch.main.msb_types
select distinct type, groups from anon_scratch.main.msb_arrived;

-- add members: The members of the types of a pass join the others.
insert into anon_scratch.main.msb_members
select type, bucket, c from anon_scratch.main.msb_arrived;

-- what is left: The records that remain after a pass.
create or replace table anon_scratch.main.msb_left as
with used as (
    select bucket, cast(sum(groups * c) as bigint) as n
    from anon_scratch.main.msb_arrived
    group by bucket
)
select l.bucket, l.n - coalesce(u.n, 0) as n
from anon_scratch.main.msb_left l
left join used u on u.bucket = l.bucket
where l.n > coalesce(u.n, 0);

-- exit query of the loop: Whether another pass is worthwhile: while one record stands for several, and after that while blocks take more records than they leave.
select cast(case
    when s.q > 1 then 1
    when s.blocks > 1 and t.taken > 0 and t.taken >= t.unused then 1
    else 0
end as integer)
from anon_scratch.main.msb_scale s
cross join (
    select
        (select coalesce(sum(c), 0) from anon_scratch.main.msb_formed) as taken,
        (
            select coalesce(sum(l.n), 0)
            from anon_scratch.main.msb_left l
            join anon_scratch.main.msb_buckets b on b.bucket = l.bucket
            where b.complete
        ) as unused
) t;
-- end of loop: form groups

-- before the first round: The residual phase has not begun.
create or replace table anon_scratch.main.msb_turn as
select cast(0 as bigint) as round, cast(0 as bigint) as idle, cast(1 as bigint) as parts;

-- no offers yet: The state before the first round: no record was offered to a group, and no round failed to assign any.
create or replace table anon_scratch.main.msb_offers as
select cast(0 as bigint) as bucket, cast(0 as bigint) as type, cast(0 as bigint) as groups;

-- shapes of groups: What the residual phase needs to know of each type of group: its size, and the values of which one more record would break its diversity, (c(v)+1) l_v > |G|+1 (Xiao and Li 2020, §4).
create or replace table anon_scratch.main.msb_shapes as
with held as (
    select
        m.type,
        m.c,
        unnest([0, 1, 2]) as dimension,
        unnest([1, b.v1, b.v2]) as v,
        unnest([0, b.need1, b.need2]) as need
    from anon_scratch.main.msb_members m
    join anon_scratch.main.msb_buckets b on b.bucket = m.bucket
),
counted as (
    select type, dimension, v, need, cast(sum(c) as bigint) as c
    from held
    where v > 0
    group by type, dimension, v, need
),
filled as (
    select *, cast(sum(c) over (partition by type, dimension) as bigint) as filled
    from counted
)
select
    type,
    max(filled) filter (where dimension = 0) as size
    , coalesce(max(filled) filter (where dimension = 1), 0) as filled1
    , coalesce(list(v) filter (where dimension = 1 and (c + 1) * need > filled + 1), []) as blocked1
    , coalesce(bit_or(cast(1 as bigint) << (v % 62)) filter (where dimension = 1 and (c + 1) * need > filled + 1), 0) as mask1
    , coalesce(max(filled) filter (where dimension = 2), 0) as filled2
    , coalesce(list(v) filter (where dimension = 2 and (c + 1) * need > filled + 1), []) as blocked2
    , coalesce(bit_or(cast(1 as bigint) << (v % 62)) filter (where dimension = 2 and (c + 1) * need > filled + 1), 0) as mask2
from filled
group by type;

-- loop: place the residual, at most 660 times, until the exit query counts 0
-- next round: The next round of the residual phase, and into how many parts the pairs of bucket and type are cut.
create or replace table anon_scratch.main.msb_turn as
select
    round + 1 as round,
    case when exists (select 1 from anon_scratch.main.msb_offers) then 0 else idle + 1 end as idle,
    greatest(1, (select count(*) from anon_scratch.main.msb_left) * (select count(*) from anon_scratch.main.msb_types) // 500000) as parts
from anon_scratch.main.msb_turn;

-- offers: One round of the residual phase: every bucket offers its records to the smallest groups that may take one, and every group takes at most one (Xiao and Li 2020, §4). Among types of equal size each bucket starts at a different one, so that few offers compete; of competing offers, the record that needs the largest group goes first.
create or replace table anon_scratch.main.msb_offers as
with residual as (
    select
        l.bucket,
        l.n,
        b.target,
        b.v1,
        b.need1,
        cast(1 as bigint) << (b.v1 % 62) as bit1,
        b.v2,
        b.need2,
        cast(1 as bigint) << (b.v2 % 62) as bit2,
        row_number() over (order by l.bucket) - 1 as place
    from anon_scratch.main.msb_left l
    join anon_scratch.main.msb_buckets b on b.bucket = l.bucket
),
placed as (
    select s.*, t.groups, row_number() over (order by t.type) - 1 as place
    from anon_scratch.main.msb_types t
    join anon_scratch.main.msb_shapes s on s.type = t.type
),
extent as (
    select count(*) as types, greatest(1, count(*) // greatest(1, (select count(*) from residual))) as stride
    from placed
),
possible as (
    select
        r.bucket,
        r.n,
        r.target,
        s.type,
        s.groups,
        s.size,
        (s.place + e.types - (r.place * e.stride) % e.types) % e.types as distance
    from residual r
    cross join anon_scratch.main.msb_turn t
    cross join extent e
    join placed s on s.place % t.parts = (r.place + t.round) % t.parts
    where (r.v1 = 0 or (r.need1 <= s.filled1 + 1 and ((s.mask1 & r.bit1) = 0 or not list_contains(s.blocked1, r.v1)))) and (r.v2 = 0 or (r.need2 <= s.filled2 + 1 and ((s.mask2 & r.bit2) = 0 or not list_contains(s.blocked2, r.v2))))
),
asked as (
    select *, cast(sum(groups) over (partition by bucket order by size, distance rows unbounded preceding) as bigint) - groups as before
    from possible
),
offered as (
    select bucket, target, type, groups, least(n - before, groups) as offered
    from asked
    where before < n
),
answered as (
    select
        bucket,
        type,
        groups,
        offered,
        cast(sum(offered) over (partition by type order by target desc, bucket rows unbounded preceding) as bigint) - offered as before
    from offered
)
select bucket, type, least(offered, groups - before) as groups
from answered
where before < groups;

-- grown groups: The groups that took a record are types of their own.
create or replace table anon_scratch.main.msb_arrived as
with grown as (
    select
        (select max(type) from anon_scratch.main.msb_members) + row_number() over (order by type, bucket) as type,
        type as origin,
        bucket as joined,
        groups
    from anon_scratch.main.msb_offers
)
select g.type, g.groups, g.origin, m.bucket, m.c + case when m.bucket = g.joined then 1 else 0 end as c
from grown g
join anon_scratch.main.msb_members m on m.type = g.origin
union all
select g.type, g.groups, g.origin, g.joined, 1
from grown g
where not exists (select 1 from anon_scratch.main.msb_members m where m.type = g.origin and m.bucket = g.joined);

-- add members: as in plans/msb.sql, add members

-- add shapes: The shapes of the groups that took a record.
insert into anon_scratch.main.msb_shapes
-- 7 lines as in plans/msb.sql, shapes of groups
    from anon_scratch.main.msb_arrived m
    -- 23 lines as in plans/msb.sql, shapes of groups

-- types of groups: Types after a round: what is left of the old ones, and those that took a record.
create or replace table anon_scratch.main.msb_types as
with grown as (select distinct type, origin, groups from anon_scratch.main.msb_arrived),
gone as (select origin as type, cast(sum(groups) as bigint) as groups from grown group by origin)
select t.type, t.groups - coalesce(g.groups, 0) as groups
from anon_scratch.main.msb_types t
left join gone g on g.type = t.type
where t.groups > coalesce(g.groups, 0)
union all
select type, groups from grown;

-- records left: Residual records after a round.
create or replace table anon_scratch.main.msb_left as
with used as (
    select bucket, cast(sum(groups) as bigint) as n
    from anon_scratch.main.msb_offers
    -- 6 lines as in plans/msb.sql, what is left

-- exit query of the loop: Whether another round may place a record: not once all parts of the pairs in turn placed none.
select cast(case
    when exists (select 1 from anon_scratch.main.msb_offers) then exists (select 1 from anon_scratch.main.msb_left)
    else idle + 1 < least(parts, 20)
end as integer)
from anon_scratch.main.msb_turn;
-- end of loop: place the residual

-- records into groups: Every published record with the number of its group. Which record of a bucket goes to which group, and the number of each group, are drawn at random.
create or replace table anon_scratch.main.coded as
with ranked as (
    select r.draw, b.bucket, row_number() over (partition by b.bucket order by r.draw) - 1 as place
    from anon_scratch.main.coded r
    join anon_scratch.main.msb_values_1 d1 on d1.value is not distinct from r.s1
    join anon_scratch.main.msb_values_2 d2 on d2.value is not distinct from r.s2
    join anon_scratch.main.msb_buckets b on b.v1 = d1.code and b.v2 = d2.code
),
numbered as (
    select type, groups, cast(sum(groups) over (order by type rows unbounded preceding) as bigint) - groups as first_group
    from anon_scratch.main.msb_types
),
held as (
    select
        m.bucket,
        n.groups,
        n.first_group,
        n.groups * m.c as records,
        cast(sum(n.groups * m.c) over (partition by m.bucket order by m.type rows unbounded preceding) as bigint) - n.groups * m.c as first_place
    from anon_scratch.main.msb_members m
    join numbered n on n.type = m.type
),
slots as (
    select h.bucket, h.first_place + i.i as place, h.first_group + i.i % h.groups as grp
    from held h, unnest(range(h.records)) as i(i)
),
grouped as (
    select r.draw, s.grp
    from ranked r
    join slots s on s.bucket = r.bucket and s.place = r.place
),
named as (
    select grp, row_number() over (order by md5_number(concat(hex(draw), ':group'))) as group_number
    from (select grp, min(draw) as draw from grouped group by grp)
)
select r.*, n.group_number
from anon_scratch.main.coded r
join grouped g on g.draw = r.draw
join named n on n.grp = g.grp;

-- write the release: The view's rows: exact quasi-identifiers and the group, shuffled by their draw.
create or replace table anon_scratch.main.staged as
select
    r.group_number as "group_id",
    c.cell1 as "age"
from (
    select t.*, struct_pack(cell1 := d1.label) as c
    from anon_scratch.main.coded t
    join anon_scratch.main.domain_1 d1 on d1.code = t.c1
) r
order by r.draw;

-- write people_anonymous_sex: One sensitive column with the number of the group, in an order drawn for this column alone: neither the order of the view nor that of another column reveals which value belongs to which row.
create or replace table anon_scratch.main.people_anonymous_sex as
select group_number as "group_id", s1 as "sex"
from anon_scratch.main.coded
order by md5_number(concat(hex(draw), ':table 1'));

-- write people_anonymous_ill: One sensitive column with the number of the group, in an order drawn for this column alone: neither the order of the view nor that of another column reveals which value belongs to which row.
create or replace table anon_scratch.main.people_anonymous_ill as
select group_number as "group_id", s2 as "ill"
from anon_scratch.main.coded
order by md5_number(concat(hex(draw), ':table 2'));
