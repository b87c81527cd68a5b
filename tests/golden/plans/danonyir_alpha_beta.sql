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

-- numbers of persons: A number without meaning for every person, in secret-keyed order.
create or replace table anon_scratch.main.persons as
select person, row_number() over (order by md5_number(concat(hex(draw), ':person')), person) as number
from (select person, min(draw) as draw from anon_scratch.main.coded group by person);

-- enough rows: The table has fewer units (rows, or persons) than one class needs. (stops the run if it returns rows)
select count(distinct person) as units from anon_scratch.main.coded having count(distinct person) < 2;

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
        , bit_or((cast(1 as bigint) << cast(d3.code - 1 as bigint))) as bits3
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
    cast(((hi1 - lo1)) + ((bit_count(bits2) - 1) * 1000000000) + ((bit_count(bits3) - 1) * 333333333) as bigint) as loss
from gathered;

-- tuples of persons: The distinct tuples of every unit, where the rows of a person may differ: what cells must cover.
create or replace table anon_scratch.main.extents as
select u.unit, min(u.n) as n, min(r.draw) as draw, r.c1, r.c2, r.c3
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.person = r.person
group by u.unit, r.c1, r.c2, r.c3;

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
select col, known, different, widest from counted where (different < 2 or known < 2 or known - widest + 1 < 2) or (not (cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1)) or (not (cast(widest as decimal(38, 0)) * 10 <= cast(known as decimal(38, 0)) * 7));

-- persons of blocks: Every person with its block, its place in the order of the block, and what a cluster of this person alone carries. Parts of the partition that are too large, since nothing tells their persons apart, are cut into even pieces.
create or replace table anon_scratch.main.neighbours as
with placed as (
    select 1 as class_id, 1 as piece, unit from anon_scratch.main.units
),
numbered as (
    select unit, cast(dense_rank() over (order by class_id, piece) as bigint) as block
    from placed
)
, held as (
    select unit, cast(coalesce(sum(n) filter (where col = 1), 0) as bigint) as most_records, cast(count(*) filter (where col = 1) as bigint) as pairs_1, cast(count(*) filter (where col = 1) as bigint) as most_pairs_1, coalesce(list(value order by value) filter (where col = 1 and value > 0), []) as values_1, cast(cast(count(*) filter (where col = 1 and value > 0) > 0 as bigint) as bigint) as known_1
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
    , u.bits3
    , h.most_records
    , h.pairs_1
    , h.most_pairs_1
    , h.values_1
    , h.known_1
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
    open.bits3,
    open.most_records,
    open.pairs_1,
    open.most_pairs_1,
    open.values_1,
    open.known_1,
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
            , bits3 := max(bits3) filter (where false)
            , most_records := max(most_records) filter (where false)
            , pairs_1 := max(pairs_1) filter (where false)
            , most_pairs_1 := max(most_pairs_1) filter (where false)
            , values_1 := max(values_1) filter (where false)
            , known_1 := max(known_1) filter (where false)
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
        cast(((hi1 - lo1)) + ((bit_count(bits2) - 1) * 1000000000) + ((bit_count(bits3) - 1) * 333333333) as bigint) as loss,
        members,
        lo1,
        hi1,
        bits2,
        bits3,
        most_records,
        pairs_1,
        most_pairs_1,
        values_1,
        known_1,
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
            , case when x.fresh then y.bits3 else (x.bits3 | y.bits3) end as bits3
            , case when x.fresh then y.most_records else greatest(x.most_records, y.most_records) end as most_records
            , case when x.fresh then y.pairs_1 else (x.pairs_1 + y.pairs_1) end as pairs_1
            , case when x.fresh then y.most_pairs_1 else greatest(x.most_pairs_1, y.most_pairs_1) end as most_pairs_1
            , case when x.fresh then y.values_1 else list_concat(x.values_1, y.values_1) end as values_1
            , case when x.fresh then y.known_1 else (x.known_1 + y.known_1) end as known_1
            , case
                when x.fresh then values_1[1:1]
                when x.kind = 1 or x.proof_1 is null then null
                when len(values_1) = 0 or list_has_any(x.proof_1, values_1) then x.proof_1
                when len(x.proof_1) < 1 then list_append(x.proof_1, values_1[1])
                else cast([0] as integer[])
            end as proof_1
            , case
                when x.holds then list_append(x.closed, struct_pack(seed := x.seed, size := x.size, records := x.records, loss := x.loss, members := x.members, lo1 := x.lo1, hi1 := x.hi1, bits2 := x.bits2, bits3 := x.bits3, most_records := x.most_records, pairs_1 := x.pairs_1, most_pairs_1 := x.most_pairs_1, values_1 := x.values_1, known_1 := x.known_1))
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
                    bits3 := h.bits3,
                    most_records := h.most_records,
                    pairs_1 := h.pairs_1,
                    most_pairs_1 := h.most_pairs_1,
                    values_1 := h.values_1,
                    known_1 := h.known_1
                ) end as y
                , h.values_1
            from (
                select o.*, cast(b.choice % 8589934592 as bigint) as slot, cast((b.choice // 8589934592) % 2 as integer) as kind
                from (select *, size = 0 or holds as fresh
from (
    select *, (proof_1 is null and case when size >= 2 then (cast(most_pairs_1 as decimal(38, 0)) * 2 <= cast(pairs_1 as decimal(38, 0)) * 1 and cast(most_records as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (cast(coalesce(list_max(map_values(list_histogram(values_1))), 0) as decimal(38, 0)) * 10 <= cast(known_1 as decimal(38, 0)) * 7) else false end) as holds
    from blocks
    where remaining > 0 and not (coalesce(proof_1 = [0], false))
)) o
                join (
                    select block, min(choice) as choice
                    from (
                        select x.block, case when x.fresh then cast(y.place as hugeint) else cast((x.records + y.records) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1))) + ((bit_count((x.bits2 | y.bits2)) - 1) * 1000000000) + ((bit_count((x.bits3 | y.bits3)) - 1) * 333333333)) - x.records * x.loss - y.records * y.loss as hugeint) * 17179869184 + y.place end as choice
                        from (select *, size = 0 or holds as fresh
from (
    select *, (proof_1 is null and case when size >= 2 then (cast(most_pairs_1 as decimal(38, 0)) * 2 <= cast(pairs_1 as decimal(38, 0)) * 1 and cast(most_records as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (cast(coalesce(list_max(map_values(list_histogram(values_1))), 0) as decimal(38, 0)) * 10 <= cast(known_1 as decimal(38, 0)) * 7) else false end) as holds
    from blocks
    where remaining > 0 and not (coalesce(proof_1 = [0], false))
)) x
                        join anon_scratch.main.neighbours y on y.block = x.block
                        where get_bit(x.taken, cast(y.place - 1 as integer)) = 0
                        union all
                        select block, cast((x.records + y.records) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1))) + ((bit_count((x.bits2 | y.bits2)) - 1) * 1000000000) + ((bit_count((x.bits3 | y.bits3)) - 1) * 333333333)) - x.records * x.loss - y.records * y.loss as hugeint) * 17179869184 + 8589934592 + y.seed
                        from (select block, x, unnest(closed) as y from (select *, size = 0 or holds as fresh
from (
    select *, (proof_1 is null and case when size >= 2 then (cast(most_pairs_1 as decimal(38, 0)) * 2 <= cast(pairs_1 as decimal(38, 0)) * 1 and cast(most_records as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (cast(coalesce(list_max(map_values(list_histogram(values_1))), 0) as decimal(38, 0)) * 10 <= cast(known_1 as decimal(38, 0)) * 7) else false end) as holds
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
having count(distinct s.codes[1]) filter (where len(s.codes) = 1) < 2;
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
        case when (proof_1 is null and case when size >= 2 then (cast(most_pairs_1 as decimal(38, 0)) * 2 <= cast(pairs_1 as decimal(38, 0)) * 1 and cast(most_records as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (cast(coalesce(list_max(map_values(list_histogram(values_1))), 0) as decimal(38, 0)) * 10 <= cast(known_1 as decimal(38, 0)) * 7) else false end) then list_append(closed, struct_pack(seed := seed, size := size, records := records, loss := loss, members := members, lo1 := lo1, hi1 := hi1, bits2 := bits2, bits3 := bits3, most_records := most_records, pairs_1 := pairs_1, most_pairs_1 := most_pairs_1, values_1 := values_1, known_1 := known_1)) else closed end as closed
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
                loss := cast(((hi1 - lo1)) + ((bit_count(bits2) - 1) * 1000000000) + ((bit_count(bits3) - 1) * 333333333) as bigint),
                members := members,
                lo1 := lo1,
                hi1 := hi1,
                bits2 := bits2,
                bits3 := bits3,
                most_records := most_records,
                pairs_1 := pairs_1,
                most_pairs_1 := most_pairs_1,
                values_1 := values_1,
                known_1 := known_1
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
            , (x.bits3 | y.bits3) as bits3
            , greatest(x.most_records, y.most_records) as most_records
            , (x.pairs_1 + y.pairs_1) as pairs_1
            , greatest(x.most_pairs_1, y.most_pairs_1) as most_pairs_1
            , list_concat(x.values_1, y.values_1) as values_1
            , (x.known_1 + y.known_1) as known_1
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
                        cast((x.records + y.records) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1))) + ((bit_count((x.bits2 | y.bits2)) - 1) * 1000000000) + ((bit_count((x.bits3 | y.bits3)) - 1) * 333333333)) - x.records * x.loss - y.records * y.loss as hugeint) as distance
                        , x.size + y.size as size, x.records + y.records as records
                        , greatest(x.most_records, y.most_records) as most_records
                        , (x.pairs_1 + y.pairs_1) as pairs_1
                        , greatest(x.most_pairs_1, y.most_pairs_1) as most_pairs_1
                        , list_concat(x.values_1, y.values_1) as values_1
                        , (x.known_1 + y.known_1) as known_1
                    from (select x, unnest(closed) as y from (select b.closed, b.waiting, b.homeless, cast(1 as bigint) as size, h.*
from blocks b
join anon_scratch.main.neighbours h on h.block = b.block and h.place = b.waiting[1]) x)
                )
                where (case when size >= 2 then (cast(most_pairs_1 as decimal(38, 0)) * 2 <= cast(pairs_1 as decimal(38, 0)) * 1 and cast(most_records as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (cast(coalesce(list_max(map_values(list_histogram(values_1))), 0) as decimal(38, 0)) * 10 <= cast(known_1 as decimal(38, 0)) * 7) else false end)
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
    , bit_or(case when u.c3 > 0 then cast(1 as bigint) << u.c3 else 0 end) as bits3
from anon_scratch.main.members m
join anon_scratch.main.extents u on u.unit = m.unit
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

-- sets of zip: The sets of values of one categorical attribute that classes with more than one publish: told apart by their bits where a domain is small, else by class.
create or replace table anon_scratch.main.sets_3 as
with pairs as (
    select f.bits, d.code
    from (select distinct bits3 as bits from anon_scratch.main.boxes where lo3 < hi3) f
    join anon_scratch.main.domain_3 d on d.code > 0 and (f.bits >> d.code) & 1 = 1
)
select
    p.bits,
    count(*) as size,
    case when count(*) = (select count(*) from anon_scratch.main.domain_3 where code > 0) then '*'
        else '{' || string_agg(d.label, ', ' order by cast(d.value as varchar)) || '}' end as cell
from pairs p
join anon_scratch.main.domain_3 d on d.code = p.code
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
    , case when b.lo2 is null then null when b.lo2 = b.hi2 then low2.label || case when b.null2 then ' or NULL' else '' end else chosen2.cell || case when b.null2 then ' or NULL' else '' end end as cell2
    , case when b.lo3 is null then null when b.lo3 = b.hi3 then low3.label || case when b.null3 then ' or NULL' else '' end else chosen3.cell || case when b.null3 then ' or NULL' else '' end end as cell3
from anon_scratch.main.boxes b
join numbers o on o.class_id = b.class_id
left join anon_scratch.main.domain_1 low1 on low1.code = b.lo1
left join anon_scratch.main.domain_1 high1 on high1.code = b.hi1
left join anon_scratch.main.domain_2 low2 on low2.code = b.lo2
left join anon_scratch.main.sets_2 chosen2 on chosen2.bits = b.bits2
left join anon_scratch.main.domain_3 low3 on low3.code = b.lo3
left join anon_scratch.main.sets_3 chosen3 on chosen3.bits = b.bits3;

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
