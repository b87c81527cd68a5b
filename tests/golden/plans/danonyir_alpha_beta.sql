-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    "age" as q1,
    cast("sex" as varchar) collate "binary" as q2,
    cast("zip" as varchar) collate "binary" as q3,
    cast("ill" as varchar) collate "binary" as s1,
    "who" as person,
    md5(concat(coalesce(strlen(cast("who" as varchar)), -1), ':', cast("who" as varchar), coalesce(strlen(cast("ill" as varchar)), -1), ':', cast("ill" as varchar))) as identity
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
    union all
    select null, count(*) from anon_scratch.main.snapshot where q1 is null having count(*) > 0
),
coded as (
    select
        v.value,
        v.n,
        case when v.value is null then 0 else row_number() over (
            partition by v.value is null
            order by v.value
        ) end as code,
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
    union all
    select null, count(*) from anon_scratch.main.snapshot where q2 is null having count(*) > 0
),
coded as (
    select
        v.value,
        v.n,
        case when v.value is null then 0 else row_number() over (
            partition by v.value is null
            order by v.n desc, v.value
        ) end as code,
        count(*) over () as size
    from valued v
)
select
    cast(code as integer) as code,
    value,
    case when cast(value as varchar) in ('', '*', 'NULL') or regexp_matches(cast(value as varchar), '[][,{}"]') or starts_with(cast(value as varchar), ' ') or ends_with(cast(value as varchar), ' ') or ends_with(cast(value as varchar), ' or NULL') then '"' || replace(cast(value as varchar), '"', '""') || '"' else cast(value as varchar) end as label,
    n,
    cast(size as bigint) as size,
    (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0) as share
from coded
order by code;

-- codes of zip: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_3 as
with valued as (
    select value, n from anon_scratch.main.values_3
    union all
    select null, count(*) from anon_scratch.main.snapshot where q3 is null having count(*) > 0
),
coded as (
    select
        v.value,
        v.n,
        case when v.value is null then 0 else row_number() over (
            partition by v.value is null
            order by v.n desc, v.value
        ) end as code,
        count(*) over () as size
    from valued v
)
select
    cast(code as integer) as code,
    value,
    case when cast(value as varchar) in ('', '*', 'NULL') or regexp_matches(cast(value as varchar), '[][,{}"]') or starts_with(cast(value as varchar), ' ') or ends_with(cast(value as varchar), ' ') or ends_with(cast(value as varchar), ' or NULL') then '"' || replace(cast(value as varchar), '"', '""') || '"' else cast(value as varchar) end as label,
    n,
    cast(size as bigint) as size,
    (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0) as share
from coded
order by code;

-- encode rows: Every row as small codes, with its secret-keyed draw.
create or replace table anon_scratch.main.coded as
with drawn as (
    select
        md5_number(concat($secret, ':', d1.code::bigint + d2.code * 11::bigint + d3.code * 44::bigint, ':', s.identity)) as draw
        , s.rowid as row_ref
        , d1.code as c1
        , d2.code as c2
        , d3.code as c3
        , s.s1
        , s.person
    from anon_scratch.main.snapshot s
    join anon_scratch.main.domain_1 d1 on d1.value is not distinct from s.q1
    join anon_scratch.main.domain_2 d2 on d2.value is not distinct from s.q2
    join anon_scratch.main.domain_3 d3 on d3.value is not distinct from s.q3
),
copied as (
    select *, row_number() over (partition by draw) as copy
    from drawn
),
told_apart as (
    -- with one draw for all of its copies a row would stand beside them in the release, whatever the
    -- cells and buckets say; which copy gets which number makes no difference
    select
        case when copy = 1 then draw else md5_number(concat(hex(draw), ':copy ', copy)) end as draw
        , row_ref
        , c1
        , c2
        , c3
        , s1
        , person
    from copied
)
select *
from told_apart;

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
        when cast(max(value) over () - min(value) over () as hugeint) <= 100000
            then cast(value - min(value) over () as bigint) * cast(round(1000000000 / cast(max(value) over () - min(value) over () as double)) as bigint)
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

-- single persons: Every person as a cluster of its own (kind 0: not placed), in its block. Parts of the partition that are too large, since nothing tells their persons apart, are cut into even pieces.
create or replace table anon_scratch.main.clusters as
with placed as (
    select 1 as class_id, 1 as piece, unit from anon_scratch.main.units
)
select
    cast(dense_rank() over (order by p.class_id, p.piece) as bigint) as block,
    u.unit,
    0 as kind,
    u.records,
    u.loss
    , u.lo1
    , u.hi1
    , u.bits2
    , u.bits3
from anon_scratch.main.units u
join placed p on p.unit = u.unit;

-- empty groups: An empty table of whole numbers.
create or replace table anon_scratch.main.groups as
select cast(null as bigint) as unit, cast(null as bigint) as grp where false;

-- empty held_clusters: An empty table of whole numbers.
create or replace table anon_scratch.main.held_clusters as
select cast(null as bigint) as unit where false;

-- empty found_proofs: An empty table of whole numbers.
create or replace table anon_scratch.main.found_proofs as
select cast(null as bigint) as grp, cast(null as bigint) as col, cast(null as bigint) as value where false;

-- no proofs yet: The empty table of proofs.
create or replace table anon_scratch.main.proofs as
select cast(null as bigint) as grp, cast(null as bigint) as col, cast(null as bigint) as value, false as open where false;

-- loop: grow clusters, at most 98 times, until the exit query counts 0
-- choose moves: What the open cluster of every block does next: take the nearest person, or unite with the nearest closed cluster of its block. Where none is open, the next person in order is the seed. Between equal distances a person goes before a cluster, and the earlier in order before the later.
create or replace table anon_scratch.main.moves as
with status as (
    select s.* replace (case when h.unit is not null then 1 else s.kind end as kind)
    from anon_scratch.main.clusters s
    left join anon_scratch.main.held_clusters h on h.unit = s.unit
),
heads as (
    select
        block,
        coalesce(min(unit) filter (where kind = 2), min(unit) filter (where kind = 0)) as unit,
        bool_or(kind = 2) as is_open
    from status
    group by block
    -- somebody has to be left to take
    having count(*) filter (where kind = 0) > case when bool_or(kind = 2) then 0 else 1 end
),
actors as (
    select h.is_open, s.*
    from heads h
    join status s on s.unit = h.unit
),
nearest as (
    select
        x.block,
        min(x.unit) as actor,
        not bool_or(x.is_open) as fresh,
        min(cast((x.records + y.records) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1))) + ((bit_count((x.bits2 | y.bits2)) - 1) * 1000000000) + ((bit_count((x.bits3 | y.bits3)) - 1) * 333333333)) - x.records * x.loss - y.records * y.loss as hugeint)
            * 17179869184 + y.kind * 8589934592 + y.unit) as choice
    from actors x
    join status y on y.block = x.block and y.unit <> x.unit
    group by x.block
)
select
    block,
    actor,
    fresh,
    cast(choice % 8589934592 as bigint) as chosen,
    cast((choice // 8589934592) % 2 as integer) as chosen_kind
from nearest;

-- move: The clusters after the moves. Open clusters that hold the guarantees are closed.
create or replace table anon_scratch.main.clusters as
with status as (
    select s.* replace (case when h.unit is not null then 1 else s.kind end as kind)
    from anon_scratch.main.clusters s
    left join anon_scratch.main.held_clusters h on h.unit = s.unit
),
moved as (
    select actor as unit from anon_scratch.main.moves union all select chosen from anon_scratch.main.moves
),
united as (
    select
        m.block, m.actor as unit, 2 as kind, x.records + y.records as records
        , least(x.lo1, y.lo1) as lo1
        , greatest(x.hi1, y.hi1) as hi1
        , (x.bits2 | y.bits2) as bits2
        , (x.bits3 | y.bits3) as bits3
    from anon_scratch.main.moves m
    join status x on x.unit = m.actor
    join status y on y.unit = m.chosen
)
select block, unit, kind, records, loss, lo1, hi1, bits2, bits3
from status
where unit not in (select unit from moved)
union all
select block, unit, kind, records, cast(((hi1 - lo1)) + ((bit_count(bits2) - 1) * 1000000000) + ((bit_count(bits3) - 1) * 333333333) as bigint), lo1, hi1, bits2, bits3
from united;

-- members of clusters: Who is in which cluster after the moves; a cluster bears the number of its seed.
create or replace table anon_scratch.main.groups as
select g.unit, coalesce(m.actor, g.grp) as grp
from anon_scratch.main.groups g
left join anon_scratch.main.moves m on m.chosen = g.grp and m.chosen_kind = 1
union all
select actor, actor from anon_scratch.main.moves where fresh
union all
select chosen, actor from anon_scratch.main.moves where chosen_kind = 0;

-- proofs of too little diversity: Proofs that open clusters do not hold EIR l-diversity yet: fewer than l values that meet everybody. A person whom they meet leaves them as they are; else one more value is taken while that leaves fewer than l; what is left needs the search. A cluster united with a closed one holds, and has no proof. Value 0 stands for the proof itself, which may be empty.
create or replace table anon_scratch.main.proofs as
with base as (
    select p.grp, p.col, p.value
    from (
        select grp, col, value from anon_scratch.main.proofs where not open
        union all
        select grp, col, value from anon_scratch.main.found_proofs
    ) p
    join anon_scratch.main.moves m on m.actor = p.grp and m.chosen_kind = 0 and not m.fresh
    union all
    select actor, 1, 0 from anon_scratch.main.moves where fresh and chosen_kind = 0
    union all
    select m.actor, h.col, min(h.value)
    from anon_scratch.main.moves m
    join anon_scratch.main.holdings h on h.unit = m.actor
    where m.fresh and m.chosen_kind = 0 and h.value > 0
    group by m.actor, h.col
),
news as (
    select m.actor as grp, h.col, h.value
    from anon_scratch.main.moves m
    join anon_scratch.main.holdings h on h.unit = m.chosen
    where m.chosen_kind = 0 and h.value > 0
),
unmet as (
    select n.grp, n.col, min(n.value) as value, count(b.value) as met
    from news n
    left join base b on b.grp = n.grp and b.col = n.col and b.value = n.value
    group by n.grp, n.col
    having count(b.value) = 0
),
sizes as (
    select grp, col, count(*) as n from base group by grp, col
),
lacking as (
    -- with the 0 there are as many rows as a proof may have when it is full
    select u.grp, u.col, u.value, s.n >= 2 as broken
    from unmet u
    join sizes s on s.grp = u.grp and s.col = u.col
)
select b.grp, b.col, b.value, false as open
from base b
where (b.grp, b.col) not in (select (grp, col) from lacking where broken)
union all
select grp, col, case when broken then 0 else value end, broken from lacking;

-- broken proofs: The value sets of the open clusters whose proof broke. Where l different values stand alone with somebody there is no proof any more, and nothing to search.
select p.grp, p.col, list(distinct s.codes) as sets
from anon_scratch.main.proofs p
join anon_scratch.main.groups g on g.grp = p.grp
join anon_scratch.main.held_sets s on s.unit = g.unit and s.col = p.col
where p.open
group by p.grp, p.col
having count(distinct s.codes[1]) filter (where len(s.codes) = 1) < 2;
-- then in Python, into found_proofs: Fewer than l values that meet everybody in a cluster, searched exactly.

-- clusters to judge: The open clusters that moved, to be judged.
create or replace table anon_scratch.main.open_clusters as
select g.grp, g.unit
from anon_scratch.main.groups g
join anon_scratch.main.moves m on m.actor = g.grp;

-- judge: Groups of units judged by counts: what holds, what fails; what is neither needs the exact search.
create or replace table anon_scratch.main.open_clusters_verdicts as
with sizes as (
    select a.grp, cast(sum(u.n) as bigint) as persons
    from anon_scratch.main.open_clusters a
    join anon_scratch.main.units u on u.unit = a.unit
    group by a.grp
)
,
pairs as materialized (
    select a.grp, h.col, h.person, h.value, h.n
    from anon_scratch.main.open_clusters a
    join anon_scratch.main.holdings h on h.unit = a.unit
),
by_person as (
    select
        grp, col, person,
        count(*) as pairs,
        sum(n) as records,
        count(*) filter (where value > 0) as known,
        min(value) filter (where value > 0) as one_value
    from pairs
    group by grp, col, person
),
by_value as (
    select grp, col, count(*) as holders, sum(n) as records
    from pairs
    where value > 0
    group by grp, col, value
),
of_persons as (
    select
        grp, col,
        count(*) as persons,
        count(*) filter (where known > 0) as known,
        cast(sum(pairs) as bigint) as pairs,
        cast(max(pairs) as bigint) as pairs_most,
        cast(sum(records) as bigint) as records,
        cast(max(records) as bigint) as records_most,
        count(distinct one_value) filter (where known = 1) as alone
    from by_person
    group by grp, col
),
of_values as (
    select
        grp, col,
        count(*) as different,
        cast(sum(holders) as bigint) as known_pairs,
        cast(sum(records) as bigint) as known_records,
        cast(max(holders) as bigint) as widest,
        cast(max(records) as bigint) as widest_records
    from by_value
    group by grp, col
),
counted as (
    select
        p.*,
        coalesce(v.different, 0) as different,
        coalesce(v.known_pairs, 0) as known_pairs,
        coalesce(v.known_records, 0) as known_records,
        coalesce(v.widest, 0) as widest,
        coalesce(v.widest_records, 0) as widest_records
    from of_persons p
    left join of_values v on v.grp = p.grp and v.col = p.col
),
judged as (
    select grp, bool_and((cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (cast(widest as decimal(38, 0)) * 10 <= cast(known as decimal(38, 0)) * 7)) as holds, bool_or((not (cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1)) or (not (cast(widest as decimal(38, 0)) * 10 <= cast(known as decimal(38, 0)) * 7))) as fails
    from counted
    group by grp
)

select
    s.grp,
    s.persons >= 1 and j.holds as holds,
    s.persons < 1 or j.fails as fails
from sizes s
join judged j on j.grp = s.grp;

-- clusters that hold: The open clusters that hold every guarantee: they are closed in the next round.
create or replace table anon_scratch.main.held_clusters as
select m.actor as unit
from anon_scratch.main.moves m
where true
    and m.actor not in (select grp from anon_scratch.main.proofs where not open)
    and m.actor not in (select grp from anon_scratch.main.found_proofs)
    and m.actor in (select grp from anon_scratch.main.open_clusters_verdicts where holds);

-- exit query of the loop: How many clusters moved.
select count(*) from anon_scratch.main.moves;
-- end of loop: grow clusters

-- residual persons: The residual persons: those of clusters that never held, and those nobody took.
create or replace table anon_scratch.main.residual as
select s.block, coalesce(g.unit, s.unit) as unit
from anon_scratch.main.clusters s
left join anon_scratch.main.groups g on g.grp = s.unit
where s.kind <> 1;

-- number of residual persons: How many persons were residual, joined a class afterwards or not.
select count(*) as residual_persons from anon_scratch.main.residual;

-- clusters that hold: The clusters that hold, which residual persons may join.
create or replace table anon_scratch.main.closed_clusters as
select block, unit, records, loss, lo1, hi1, bits2, bits3
from anon_scratch.main.clusters
where kind = 1;

-- members of these: Who is in a cluster that holds.
create or replace table anon_scratch.main.members as
select unit, grp as class_id
from anon_scratch.main.groups
where grp in (select unit from anon_scratch.main.closed_clusters);

-- nobody homeless yet: An empty table of whole numbers.
create or replace table anon_scratch.main.homeless as
select cast(null as bigint) as block, cast(null as bigint) as unit where false;

-- loop: place residual persons, at most 49 times, until the exit query counts 0
-- offers: The clusters that residual persons may join, with their distances: those of the block for the next person of every block; or, for persons whom no cluster of their block can take, the nearest of all.
create or replace table anon_scratch.main.offers as
with turn as (
    select block, min(unit) as unit from anon_scratch.main.residual group by block
),
measured as (
    select
        t.block,
        t.unit,
        y.unit as grp,
        cast((x.records + y.records) * (((greatest(x.hi1, y.hi1) - least(x.lo1, y.lo1))) + ((bit_count((x.bits2 | y.bits2)) - 1) * 1000000000) + ((bit_count((x.bits3 | y.bits3)) - 1) * 333333333)) - x.records * x.loss - y.records * y.loss as hugeint) as distance
    from turn t
    join anon_scratch.main.units x on x.unit = t.unit
    join anon_scratch.main.closed_clusters y on y.block = t.block
)
select row_number() over (order by unit, grp) as offer, *
from measured;

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
        count(*) filter (where value > 0) as known,
        min(value) filter (where value > 0) as one_value
    from pairs
    group by grp, col, person
),
by_value as (
    select grp, col, count(*) as holders, sum(n) as records
    from pairs
    where value > 0
    group by grp, col, value
),
of_persons as (
    select
        grp, col,
        count(*) as persons,
        count(*) filter (where known > 0) as known,
        cast(sum(pairs) as bigint) as pairs,
        cast(max(pairs) as bigint) as pairs_most,
        cast(sum(records) as bigint) as records,
        cast(max(records) as bigint) as records_most,
        count(distinct one_value) filter (where known = 1) as alone
    from by_person
    group by grp, col
),
of_values as (
    select
        grp, col,
        count(*) as different,
        cast(sum(holders) as bigint) as known_pairs,
        cast(sum(records) as bigint) as known_records,
        cast(max(holders) as bigint) as widest,
        cast(max(records) as bigint) as widest_records
        , cast(list_sum(max(holders, 1)) as bigint) as reach_1
    from by_value
    group by grp, col
),
counted as (
    select
        p.*,
        coalesce(v.different, 0) as different,
        coalesce(v.known_pairs, 0) as known_pairs,
        coalesce(v.known_records, 0) as known_records,
        coalesce(v.widest, 0) as widest,
        coalesce(v.widest_records, 0) as widest_records
        , coalesce(v.reach_1, 0) as reach_1
    from of_persons p
    left join of_values v on v.grp = p.grp and v.col = p.col
),
judged as (
    select grp, bool_and((known > 0 and (alone >= 2 or reach_1 < known)) and (cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (cast(widest as decimal(38, 0)) * 10 <= cast(known as decimal(38, 0)) * 7)) as holds, bool_or((different < 2 or known < 2 or known - widest + 1 < 2) or (not (cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1)) or (not (cast(widest as decimal(38, 0)) * 10 <= cast(known as decimal(38, 0)) * 7))) as fails
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

-- homeless persons: Persons whom no cluster of their block can take.
insert into anon_scratch.main.homeless
select 0, min(unit)
from anon_scratch.main.residual
group by block
having min(unit) not in (select unit from anon_scratch.main.offers where offer in (select grp from anon_scratch.main.offered_verdicts where holds union all select grp from anon_scratch.main.offered_searched));

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
where n.choice // 17179869184 <= u.records * cast(3000000000 as hugeint);

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
        , (x.bits3 | y.bits3) as bits3
    from anon_scratch.main.placed p
    join anon_scratch.main.closed_clusters x on x.unit = p.grp
    join anon_scratch.main.units y on y.unit = p.unit
)
select block, unit, records, loss, lo1, hi1, bits2, bits3
from anon_scratch.main.closed_clusters
where unit not in (select unit from united)
union all
select block, unit, records, cast(((hi1 - lo1)) + ((bit_count(bits2) - 1) * 1000000000) + ((bit_count(bits3) - 1) * 333333333) as bigint), lo1, hi1, bits2, bits3
from united;

-- next persons: The residual persons whose turn is still to come.
create or replace table anon_scratch.main.residual as
select block, unit
from anon_scratch.main.residual
qualify unit > min(unit) over (partition by block);

-- exit query of the loop: How many residual persons wait.
select count(*) from anon_scratch.main.residual;
-- end of loop: place residual persons

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
    , min(u.c3) filter (where u.c3 > 0) as lo3
    , max(u.c3) filter (where u.c3 > 0) as hi3
    , bool_or(u.c3 = 0) as null3
from anon_scratch.main.members m
join anon_scratch.main.extents u on u.unit = m.unit
group by m.class_id;

-- sets of sex: The set of values of one categorical attribute in every class that has more than one.
create or replace table anon_scratch.main.sets_2 as
with pairs as (
    select distinct m.class_id, u.c2 as code
    from anon_scratch.main.members m
    join anon_scratch.main.extents u on u.unit = m.unit
    join anon_scratch.main.boxes b on b.class_id = m.class_id
    where b.lo2 < b.hi2 and u.c2 > 0
)
select
    p.class_id,
    count(*) as size,
    case when count(*) = (select count(*) from anon_scratch.main.domain_2 where code > 0) then '*'
        else '{' || string_agg(d.label, ', ' order by cast(d.value as varchar)) || '}' end as cell
from pairs p
join anon_scratch.main.domain_2 d on d.code = p.code
group by p.class_id;

-- sets of zip: The set of values of one categorical attribute in every class that has more than one.
create or replace table anon_scratch.main.sets_3 as
with pairs as (
    select distinct m.class_id, u.c3 as code
    from anon_scratch.main.members m
    join anon_scratch.main.extents u on u.unit = m.unit
    join anon_scratch.main.boxes b on b.class_id = m.class_id
    where b.lo3 < b.hi3 and u.c3 > 0
)
select
    p.class_id,
    count(*) as size,
    case when count(*) = (select count(*) from anon_scratch.main.domain_3 where code > 0) then '*'
        else '{' || string_agg(d.label, ', ' order by cast(d.value as varchar)) || '}' end as cell
from pairs p
join anon_scratch.main.domain_3 d on d.code = p.code
group by p.class_id;

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
left join anon_scratch.main.sets_2 chosen2 on chosen2.class_id = b.class_id
left join anon_scratch.main.domain_3 low3 on low3.code = b.lo3
left join anon_scratch.main.sets_3 chosen3 on chosen3.class_id = b.class_id;

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
