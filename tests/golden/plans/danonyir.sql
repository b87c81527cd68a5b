-- lines that refer to other files are explained in tests/golden/README.md

-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
-- 4 lines as in plans/lgb.sql, read the source
    "patient" as person,
    md5(concat(coalesce(cast(strlen(cast("visit" as varchar)) as varchar), '-1'), ':', cast("visit" as varchar), coalesce(cast(strlen(cast("patient" as varchar)) as varchar), '-1'), ':', cast("patient" as varchar), coalesce(cast(strlen(cast("born" as varchar)) as varchar), '-1'), ':', cast("born" as varchar), coalesce(cast(strlen(cast("zip" as varchar) collate "binary") as varchar), '-1'), ':', cast("zip" as varchar) collate "binary", coalesce(cast(strlen(cast("sex" as varchar) collate "binary") as varchar), '-1'), ':', cast("sex" as varchar) collate "binary", coalesce(cast(strlen(cast("ward" as varchar) collate "binary") as varchar), '-1'), ':', cast("ward" as varchar) collate "binary", coalesce(cast(strlen(cast("hide" as varchar)) as varchar), '-1'), ':', cast("hide" as varchar), coalesce(cast(strlen(cast("ill" as varchar) collate "binary") as varchar), '-1'), ':', cast("ill" as varchar) collate "binary", coalesce(cast(strlen(cast("cost" as varchar)) as varchar), '-1'), ':', cast("cost" as varchar))) as identity,
    (case when strpos(cast("ill" as varchar) collate "binary", case when abs(cast("patient" as double)) >= 10000 and abs(cast("patient" as double)) <= 1e300 then regexp_replace(cast("patient" as varchar) collate "binary", '^-|[.]0*$', '', 'g') end) > 0 then strpos(regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(cast("ill" as varchar) collate "binary")), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g'), regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(case when abs(cast("patient" as double)) >= 10000 and abs(cast("patient" as double)) <= 1e300 then regexp_replace(cast("patient" as varchar) collate "binary", '^-|[.]0*$', '', 'g') end)), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g')) > 0 else false end) as held_0,
    (coalesce(case when cast("age" as double) between 10000 and 9e18 and cast("age" as double) = floor(cast("age" as double)) then cast("age" as bigint) end = case when cast("patient" as double) between 10000 and 9e18 and cast("patient" as double) = floor(cast("patient" as double)) then cast("patient" as bigint) end, false)) as held_1
from "anon_source"."main"."people";

-- values of age: as in plans/mondrian.sql, values of age
-- values of identifiers: as in templates/prepare/identifier_values.sql
-- suspected identifiers: as in templates/prepare/suspects.sql
-- identifiers in published text: as in templates/prepare/identifiers_in_text.sql

-- checks of the source: Counts of the source that make a run impossible, each under its number. (stops the run if it returns rows)
with counted as (
    select count(*) - count(person) as n1, (select case when count(*) > 1 and count(*) filter (where persons = 1) >= 0.9 * count(*) then count(*) else 0 end from (select value, count(*) as persons from (select distinct s1 as value, person from anon_scratch.main.snapshot where s1 is not null) as pairs group by value) as owners) as n2
    -- 5 lines as in plans/msb.sql, checks of the source

-- rows to compare columns in: Rows in which published columns are compared with quasi-identifiers: all, or a part that does not depend on their values.
create or replace table anon_scratch.main.beside as
select s1, q1
from anon_scratch.main.snapshot
where hash(identity) % 1 = 0;

-- columns that tell others: How far published columns tell quasi-identifiers: of a hundred rows, those whose value goes with one value of the quasi-identifier only, or 0 if that may be by chance.
select
    p1.told as "meant.beside.8.2"
from
    (
        select
            coalesce(max(case
                when 100 * several < 5 * n or alike >= 0.95 then 0
                when agreeing / nullif(several, 0) - alike >= CAST(0.9 AS DOUBLE) * (1 - alike)
                then cast(floor(100 * one / n) as integer)
                else 0
            end), 0) as told
        from (
            select
                max(w.n) as n,
                max(w.alike) as alike,
                sum(case when total > 1 then total else 0 end) as several,
                sum(case when total > 1 then agreeing / (total - 1) else 0 end) as agreeing,
                sum(case when total > 1 and different = 1 then total else 0 end) as one,
                sum(case when total >= 10 and different = 1 then total else 0 end) as sure,
                sum(case when total >= 10 then total * power(w.share, total - 1) else 0 end)
                    as by_chance
            from (
                select
                    cast(sum(n) as double) as total,
                    count(*) as different,
                    cast(sum(n * (n - 1)) as double) as agreeing
                from (
                    select s1 as cell, count(*) as n
                    from anon_scratch.main.beside
                    where s1 is not null
                    group by s1, q1
                ) as cells
                group by cell
            ) as totals
            cross join (
                select
                    cast(sum(n) as double) as n,
                    cast(max(n) as double) / sum(n) as share,
                    cast(sum(n * (n - 1)) as double) / nullif(sum(n) * (sum(n) - 1), 0) as alike
                from (
                    select count(*) as n
                    from anon_scratch.main.beside
                    where s1 is not null
                    group by q1
                ) as counted
            ) as w
        ) as t
    ) as p1;

-- codes of age: as in plans/mondrian.sql, codes of age
-- values as counted: as in plans/lgb.sql, values as counted

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
-- 4 lines as in plans/mondrian.sql, encode rows
        -- 4 lines as in plans/lgb.sql, encode rows
        , s.person
    -- 5 lines as in plans/lgb.sql, encode rows
    -- 4 lines as in plans/mondrian.sql, encode rows
        -- 4 lines as in plans/lgb.sql, encode rows
        , person
    -- 4 lines as in plans/mondrian.sql, encode rows

-- one tuple per person: Persons whose rows differ in their quasi-identifiers. (stops the run if it returns rows)
select count(*) as persons
from (
    select person
    from anon_scratch.main.coded
    group by person
    having min(c1) <> max(c1)
)
having count(*) > 0;

-- numbers of persons: A number without meaning for every person, in secret-keyed order.
create or replace table anon_scratch.main.persons as
select person, row_number() over (order by md5_number(concat(hex(draw), ':person')), person) as number
from (select person, min(draw) as draw from anon_scratch.main.coded group by person);

-- enough rows: The table has fewer units (rows, or persons) than one class needs. (stops the run if it returns rows)
select count(distinct person) as units from anon_scratch.main.coded having count(distinct person) < 2;

-- places of age: The codes of one attribute in whole numbers: the position in an ordered domain, or the ancestors in its hierarchy and their loss, (values below the node - 1) of (values - 1).
create or replace table anon_scratch.main.places_1 as
select
    code
    , cast(cast(value as hugeint) - cast(min(value) over () as hugeint) as bigint) * cast(125000000 as bigint) as place
from anon_scratch.main.domain_1;

-- persons and their boxes: Every person as one unit with its box, numbered in secret-keyed order: the order in which seeds and residual persons are taken. Where rows of a person differ, c<i> is the lowest of their codes.
create or replace table anon_scratch.main.units as
with gathered as (
    select
        r.person,
        min(r.draw) as draw,
        count(*) as records
        , min(r.c1) as c1
        , min(d1.place) as lo1
        , max(d1.place) as hi1
    from anon_scratch.main.coded r
    join anon_scratch.main.places_1 d1 on d1.code = r.c1
    group by r.person
)
select
    row_number() over (order by md5_number(concat(hex(draw), ':order')), person) as unit,
    cast(1 as bigint) as n,
    *,
    cast(((hi1 - lo1)) as bigint) as loss
from gathered;

-- places in the domains: as in plans/lgb.sql, places in the domains

-- partition: The whole partitioning as one statement: every class is cut until no admissible cut is left.
-- 5 lines as in plans/lgb.sql, partition
        -- 6 lines as in plans/mondrian.sql, partition
            case t.attribute when 1 then o.c1 end as code
        from partition o
        cross join (values (1)) as t(attribute)
        where not o.closed
    -- 30 lines as in plans/mondrian.sql, partition
    having count(*) > 1 and sum(n) >= 128
-- 17 lines as in plans/mondrian.sql, partition
        n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end end - n_left * case when attribute in (1) then case when first_code = 0 and code > 0 then (coalesce(share - first_share, 0) * (size - 1) + 1) / size else coalesce(share - first_share, 0) end end - (n_all - n_left) * case when attribute in (1) then coalesce(last_share - next_share, 0) end as gain
    from running
    where n_left >= 64 and n_all - n_left >= 64 and code < last_code
-- 10 lines as in plans/mondrian.sql, partition
        case when level < 10 then cast(gain as decimal(18, 8)) else least(kept_left, n_all - kept_left) end as merit
    -- 28 lines as in plans/mondrian.sql, partition
    where r.rank <= 1
),
-- 4 lines as in plans/mondrian.sql, partition
        c.kept_left < 128 as left_closed,
        c.n_all - c.kept_left < 128 as right_closed
    from contenders c
    where c.rank = 1
-- 7 lines as in plans/mondrian.sql, partition
    -- 5 lines as in plans/lgb.sql, partition
    -- 10 lines as in plans/mondrian.sql, partition

-- persons of blocks: Every person with its block, its place in the order of the block, and the columns of a cluster of this person alone. Parts of the partition that cannot be cut further and are still too large are split into even pieces along the codes. Where no class can be formed in one of them, as in one of equal persons, every set of values is spread over all pieces of the part instead. Persons whose rows are too many for any class of the block stand aside, and the fewest persons such that no value is too frequent among the others: otherwise all with the value would end in one cluster.
create or replace table anon_scratch.main.neighbours as
with placed as (
    select
        m.class_id,
        floor((row_number() over (partition by m.class_id order by c1, u.unit) - 1)
            * ceil(count(*) over (partition by m.class_id) / 128) / count(*) over (partition by m.class_id)) as piece,
        u.unit
    from anon_scratch.main.units u
    join anon_scratch.main.members m on m.unit = u.unit
),
numbered as (
    select unit, cast(dense_rank() over (order by class_id, piece) as bigint) as block
    from placed
)
select
    n.block,
    cast(row_number() over (partition by n.block order by u.unit) as bigint) as place,
    u.unit,
    u.records,
    u.loss,
    false as aside
    , u.lo1
    , u.hi1
from anon_scratch.main.units u
join numbered n on n.unit = u.unit
order by block, place;

-- blocks before the first move: Blocks before the first move: no cluster, and nobody taken but those who stand aside, who are residual.
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
        ) as open,
        coalesce(
            bit_or(case when aside then set_bit(bitstring('0', cast(persons as integer)), cast(place - 1 as integer), 1) end),
            bitstring('0', cast(max(persons) as integer))
        ) as taken,
        count(*) filter (where not aside) as remaining
    from (select *, count(*) over (partition by block) as persons from anon_scratch.main.neighbours)
    group by block
);

-- grow clusters: All blocks grow their clusters in parallel, one move per iteration: the open cluster takes the nearest person of its block, or merges with the nearest closed cluster. Once it satisfies the guarantees it is closed, and the next person in order becomes the seed of the next cluster. At equal distance a person is preferred to a cluster, and the earlier in order to the later. A block stops when none of its persons is left{% if waits %}, or when only a search can tell whether its cluster holds{% endif %}.
create or replace table anon_scratch.main.grown_clusters as
with recursive blocks using key (block) as (
    select * from anon_scratch.main.clusters
    union all
    select
        block,
        seed,
        size,
        records,
        cast(((hi1 - lo1)) as bigint) as loss,
        members,
        lo1,
        hi1,
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
            , case
                when x.holds then list_append(x.closed, struct_pack(seed := x.seed, size := x.size, records := x.records, loss := x.loss, members := x.members, lo1 := x.lo1, hi1 := x.hi1))
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
                    hi1 := h.hi1
                ) end as y
            from (
                select o.*, cast(b.choice % 8589934592 as bigint) as slot, cast((b.choice // 8589934592) % 2 as integer) as kind
                from (select *, size = 0 or holds as fresh
from (
    select *, (size >= 2) as holds
    from blocks
    where remaining > 0
)) o
                join (
                    select block, min(choice) as choice
                    from (
                        select x.block, case when x.fresh then cast(y.place as hugeint) else (cast(x.records + y.records as hugeint) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1)))) - x.records * cast(x.loss as hugeint) - y.records * cast(y.loss as hugeint)) * 17179869184 + y.place end as choice
                        from (select *, size = 0 or holds as fresh
-- 4 lines as in plans/danonyir.sql, grow clusters
)) x
                        join anon_scratch.main.neighbours y on y.block = x.block
                        where get_bit(x.taken, cast(y.place - 1 as integer)) = 0
                        union all
                        select block, (cast(x.records + y.records as hugeint) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1)))) - x.records * cast(x.loss as hugeint) - y.records * cast(y.loss as hugeint)) * 17179869184 + 8589934592 + y.seed
                        from (select block, x, unnest(closed) as y from (select *, size = 0 or holds as fresh
-- 4 lines as in plans/danonyir.sql, grow clusters
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

-- residual persons: Every block with its clusters that satisfy the guarantees, and its residual persons: those in clusters that never did, and those that no cluster took.
create or replace table anon_scratch.main.settling_blocks as
with held as (
    select
        block,
        case when (size >= 2) then list_append(closed, struct_pack(seed := seed, size := size, records := records, loss := loss, members := members, lo1 := lo1, hi1 := hi1)) else closed end as closed
    from anon_scratch.main.grown_clusters
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

-- number of residual persons: The number of residual persons, whether or not they joined a class afterwards.
select cast(coalesce(sum(len(waiting)), 0) as bigint) as residual_persons from anon_scratch.main.settling_blocks;

-- place residual persons: The residual persons of every block join clusters of their block, one person per iteration: the nearest cluster that satisfies the guarantees with them, unless suppressing them costs less and is allowed (`whole`, the cost of one row). A person that no cluster of the block can take is homeless.
create or replace table anon_scratch.main.settled_blocks as
with recursive blocks using key (block) as (
    select * from anon_scratch.main.settling_blocks
    union all
    select
        block,
        case when chosen is null then closed else list_append(
            list_filter(closed, lambda c: c.seed <> chosen),
            struct_pack(
                seed := seed,
                size := size,
                records := records,
                loss := cast(((hi1 - lo1)) as bigint),
                members := members,
                lo1 := lo1,
                hi1 := hi1
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
        from (
            select
                t.*,
                c.nearest,
                cast(c.nearest % 17179869184 as bigint) as chosen,
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
                        (cast(x.records + y.records as hugeint) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1)))) - x.records * cast(x.loss as hugeint) - y.records * cast(y.loss as hugeint)) as distance
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

-- members of clusters: The members of the clusters that satisfy the guarantees.
create or replace table anon_scratch.main.members as
with placed as (
    select block, closed.seed as seed, unnest(closed.members) as place
    from (select block, unnest(closed) as closed from anon_scratch.main.settled_blocks)
)
select n.unit, s.unit as class_id
from placed p
join anon_scratch.main.neighbours n on n.block = p.block and n.place = p.place
join anon_scratch.main.neighbours s on s.block = p.block and s.place = p.seed;

-- clusters that hold: The clusters that satisfy the guarantees, which persons of other blocks may join; a cluster has the number of its seed.
create or replace table anon_scratch.main.closed_clusters as
select n.block, n.unit, c.records, c.loss, c.lo1, c.hi1
from (select block, unnest(closed, max_depth := 2) from anon_scratch.main.settled_blocks) c
join anon_scratch.main.neighbours n on n.block = c.block and n.place = c.seed;

-- persons whom no cluster takes: The persons that no cluster of their block admits.
create or replace table anon_scratch.main.residual as
select n.block, n.unit, 0 as round
from (select block, unnest(homeless) as place from anon_scratch.main.settled_blocks) s
join anon_scratch.main.neighbours n on n.block = s.block and n.place = s.place;

-- clusters in reach: The clusters that a person without a class may try: the nearest of the current ones, in blocks as far away as the limit on comparisons allows. Blocks are numbered along the cuts.
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
        (cast(x.records + y.records as hugeint) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1)))) - x.records * cast(x.loss as hugeint) - y.records * cast(y.loss as hugeint)) * 17179869184
        + case when y.unit < x.unit then 8589934592 else 0 end + y.unit as near
    from anon_scratch.main.residual t
    join anon_scratch.main.units x on x.unit = t.unit
    join anon_scratch.main.closed_clusters y on abs(y.block - t.block) <= (
        select greatest(8, 20000000 * blocks // greatest(2 * persons * clusters, 1)) from sizes
    )
)
select unit, grp
from measured
qualify row_number() over (partition by unit order by near) <= 64;

-- loop: place persons elsewhere, at most 18 times, until the exit query counts 0
-- offers: The nearest clusters within reach of every person without a class, with their distances; `near` puts clusters at the same distance in an order that differs from person to person, so that persons with equal quasi-identifiers do not all ask for the same one.
create or replace table anon_scratch.main.offers as
with measured as (
    -- 7 lines as in plans/danonyir.sql, clusters in reach
    join anon_scratch.main.reach r on r.unit = t.unit
    join anon_scratch.main.closed_clusters y on y.unit = r.grp
)
select row_number() over (order by unit, grp) as offer, *
from measured
qualify row_number() over (partition by unit order by near) <= 8;

-- places: The clusters that residual persons ask for: the nearest one that satisfies the guarantees with them, unless suppressing them costs less and is allowed (`whole`, the cost of one row). In the first round a cluster hears one person, in each further round four times as many; the others wait.
create or replace table anon_scratch.main.placed as
with nearest as (
    select unit, min(near) as near
    from anon_scratch.main.offers
    group by unit
)
select
    n.unit,
    cast(n.near % 8589934592 as bigint) as grp,
    row_number() over (partition by n.near % 8589934592 order by n.unit) as turn
from nearest n
join anon_scratch.main.units u on u.unit = n.unit
qualify turn <= (select cast(1 as bigint) << cast(2 * least(max(round), 15) as bigint) from anon_scratch.main.residual);

-- next persons: The persons without a class who try again: those who have an offer but were not placed. If this round placed nobody, nobody tries again.
create or replace table anon_scratch.main.residual as
select block, unit, round + 1 as round
from anon_scratch.main.residual
where unit not in (select unit from anon_scratch.main.placed)
    and unit in (select unit from anon_scratch.main.offers)
    and exists (select 1 from anon_scratch.main.placed);

-- join: Residual persons become members of the clusters they join.
insert into anon_scratch.main.members
select unit, grp from anon_scratch.main.placed;

-- clusters grow: The clusters after residual persons joined them.
create or replace table anon_scratch.main.closed_clusters as
with united as (
    select
        x.block, x.unit, cast(x.records + sum(y.records) as bigint) as records
        , min(least(x.lo1, y.lo1)) as lo1
        , max(greatest(x.hi1, y.hi1)) as hi1
    from anon_scratch.main.placed p
    join anon_scratch.main.closed_clusters x on x.unit = p.grp
    join anon_scratch.main.units y on y.unit = p.unit
    group by x.block, x.unit, x.records
)
select block, unit, records, loss, lo1, hi1
from anon_scratch.main.closed_clusters
where unit not in (select unit from united)
union all
select block, unit, records, cast(((hi1 - lo1)) as bigint), lo1, hi1
from united;

-- exit query of the loop: The number of residual persons still waiting, of whom nobody waits for longer than `rounds`.
select count(*) from anon_scratch.main.residual where round < 18;
-- end of loop: place persons elsewhere

-- some class: No person is in a class. (stops the run if it returns rows)
select 1 where not exists (select 1 from anon_scratch.main.members);

-- extent of classes: as in plans/lgb.sql, extent of classes
-- cells of classes: as in plans/lgb.sql, cells of classes

-- write the release: The release: every published row with the cells of its class, shuffled by its draw.
create or replace table anon_scratch.main.staged as
select
    c.number as "class_id",
    dense_rank() over (order by p.number) as "person_id",
    c.cell1 as "age",
    r.s1 as "ill"
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.person = r.person
join anon_scratch.main.members m on m.unit = u.unit
join anon_scratch.main.cells c on c.class_id = m.class_id
join anon_scratch.main.persons p on p.person = r.person
order by r.draw;
