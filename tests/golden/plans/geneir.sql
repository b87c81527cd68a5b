-- lines that refer to other files are explained in tests/golden/README.md

-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    cast("zip" as varchar) collate "binary" as q1,
    cast("ill" as varchar) collate "binary" as s1,
    "patient" as person,
    md5(concat(coalesce(cast(strlen(cast("visit" as varchar)) as varchar), '-1'), ':', cast("visit" as varchar), coalesce(cast(strlen(cast("patient" as varchar)) as varchar), '-1'), ':', cast("patient" as varchar), coalesce(cast(strlen(cast("age" as varchar)) as varchar), '-1'), ':', cast("age" as varchar), coalesce(cast(strlen(cast("born" as varchar)) as varchar), '-1'), ':', cast("born" as varchar), coalesce(cast(strlen(cast("sex" as varchar) collate "binary") as varchar), '-1'), ':', cast("sex" as varchar) collate "binary", coalesce(cast(strlen(cast("ward" as varchar) collate "binary") as varchar), '-1'), ':', cast("ward" as varchar) collate "binary", coalesce(cast(strlen(cast("hide" as varchar)) as varchar), '-1'), ':', cast("hide" as varchar), coalesce(cast(strlen(cast("ill" as varchar) collate "binary") as varchar), '-1'), ':', cast("ill" as varchar) collate "binary", coalesce(cast(strlen(cast("cost" as varchar)) as varchar), '-1'), ':', cast("cost" as varchar))) as identity,
    (case when strpos(cast("ill" as varchar) collate "binary", case when abs(cast("patient" as double)) >= 10000 and abs(cast("patient" as double)) <= 1e300 then regexp_replace(cast("patient" as varchar) collate "binary", '^-|[.]0*$', '', 'g') end) > 0 then strpos(regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(cast("ill" as varchar) collate "binary")), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g'), regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(case when abs(cast("patient" as double)) >= 10000 and abs(cast("patient" as double)) <= 1e300 then regexp_replace(cast("patient" as varchar) collate "binary", '^-|[.]0*$', '', 'g') end)), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g')) > 0 else false end) as held_0,
    (case when strpos(cast("zip" as varchar) collate "binary", case when abs(cast("patient" as double)) >= 10000 and abs(cast("patient" as double)) <= 1e300 then regexp_replace(cast("patient" as varchar) collate "binary", '^-|[.]0*$', '', 'g') end) > 0 then strpos(regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(cast("zip" as varchar) collate "binary")), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g'), regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(case when abs(cast("patient" as double)) >= 10000 and abs(cast("patient" as double)) <= 1e300 then regexp_replace(cast("patient" as varchar) collate "binary", '^-|[.]0*$', '', 'g') end)), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g')) > 0 else false end) as held_1
from "anon_source"."main"."people";

-- values of zip: as in plans/mondrian.sql, values of age
-- values of identifiers: as in templates/prepare/identifier_values.sql
-- suspected identifiers: as in templates/prepare/suspects.sql
-- identifiers in published text: as in templates/prepare/identifiers_in_text.sql
-- checks of the source: as in plans/danonyir.sql, checks of the source
-- hierarchy_1.affix_levels: as in plans/full_domain.sql, hierarchy_1.affix_levels
-- hierarchy_1.affix: as in plans/full_domain.sql, hierarchy_1.affix
-- rows to compare columns in: as in plans/danonyir.sql, rows to compare columns in

-- columns that tell others: How far published columns tell quasi-identifiers: of a hundred rows, those whose value goes with one value of the quasi-identifier only, or 0 if that may be by chance.
select
    p1.told as "meant.beside.8.4"
-- 46 lines as in plans/danonyir.sql, columns that tell others

-- codes of zip: as in plans/full_domain.sql, codes of zip
-- values as counted: as in plans/full_domain.sql, values as counted
-- encode rows: as in plans/danonyir.sql, encode rows
-- one tuple per person: as in plans/danonyir.sql, one tuple per person
-- numbers of persons: as in plans/danonyir.sql, numbers of persons
-- enough rows: as in plans/danonyir.sql, enough rows
-- levels of zip: as in plans/full_domain.sql, levels of zip

-- nodes above zip: The nodes above every code of one attribute, and what they cost in whole numbers (GLM).
create or replace table anon_scratch.main.places_1 as
select
    code
    , max(node) filter (where level = 1) as a1
    , cast(max(glm) filter (where level = 1) // 1000 as bigint) as cost1
    , max(node) filter (where level = 2) as a2
    , cast(max(glm) filter (where level = 2) // 1000 as bigint) as cost2
    , max(node) filter (where level = 3) as a3
    , cast(max(glm) filter (where level = 3) // 1000 as bigint) as cost3
    , max(node) filter (where level = 4) as a4
    , cast(max(glm) filter (where level = 4) // 1000 as bigint) as cost4
    , max(node) filter (where level = 5) as a5
    , cast(max(glm) filter (where level = 5) // 1000 as bigint) as cost5
from anon_scratch.main.recoding_1
group by code;

-- persons and their boxes: Every person as one unit with its box, numbered in secret-keyed order: the order in which seeds and residual persons are taken. Where rows of a person differ, c<i> is the lowest of their codes.
-- 7 lines as in plans/danonyir.sql, persons and their boxes
        , min(d1.code) as leaf1
        , min(d1.a1) as node1_1
        , min(d1.a2) as node2_1
        , min(d1.a3) as node3_1
        , min(d1.a4) as node4_1
        , min(d1.a5) as node5_1
        , min(d1.cost1) as cost1_1
        , min(d1.cost2) as cost2_1
        , min(d1.cost3) as cost3_1
        , min(d1.cost4) as cost4_1
        , min(d1.cost5) as cost5_1
        , case when min(d1.code) = max(d1.code) then 0 when min(d1.a1) = max(d1.a1) then 1 when min(d1.a2) = max(d1.a2) then 2 when min(d1.a3) = max(d1.a3) then 3 when min(d1.a4) = max(d1.a4) then 4 when min(d1.a5) = max(d1.a5) then 5 else 5 end as level1
    -- 8 lines as in plans/danonyir.sql, persons and their boxes
    cast((case level1 when 0 then 0 when 1 then cost1_1 when 2 then cost2_1 when 3 then cost3_1 when 4 then cost4_1 when 5 then cost5_1 end) as bigint) as loss
from gathered;

-- draw the order of columns: The column that is generalized in each round: any that is not at its root, drawn from the secret.
create or replace table anon_scratch.main.ladder as
with recursive climbed(step, place, draw, levels) as (
    select cast(0 as bigint), cast(null as bigint), md5_number(concat(hex(min(draw)), ':ladder')), [cast(5 as bigint)]
    from anon_scratch.main.units
    union all
    select step, place, draw, list_transform(levels, lambda height, spot: case when spot = place then height - 1 else height end)
    from (
        select
            step + 1 as step,
            -- the digest is 128 bits long: among so few columns none comes first noticeably more often
            below[1 + cast(md5_number(concat(hex(draw), ':', step)) % cast(len(below) as uhugeint) as bigint)] as place,
            draw,
            levels
        from (
            select step, draw, levels, list_filter(range(1, len(levels) + 1), lambda spot: levels[spot] > 0) as below
            from climbed
        )
        where len(below) > 0
    )
)
select step, cast([1][place] as bigint) as attribute
from climbed
where step > 0;

-- first round: The number of levels climbed so far.
create or replace table anon_scratch.main.climbing_round as
select cast(0 as bigint) as n;

-- no classes yet: An empty table of whole numbers.
create or replace table anon_scratch.main.members as
select cast(null as bigint) as unit, cast(null as bigint) as class_id where false;

-- no levels yet: An empty table of whole numbers.
create or replace table anon_scratch.main.class_levels as
select cast(null as bigint) as class_id, cast(null as bigint) as l1 where false;

-- loop: climb, at most 6 times, until the exit query counts 0
-- climb: The remaining persons, grouped by their nodes at the levels reached so far.
create or replace table anon_scratch.main.climbers as
with heights as (
    select count(*) filter (where attribute = 1) as l1
    from anon_scratch.main.ladder
    where step <= (select n from anon_scratch.main.climbing_round)
)
select min(u.unit) over (partition by case h.l1 when 1 then u.node1_1 when 2 then u.node2_1 when 3 then u.node3_1 when 4 then u.node4_1 when 5 then u.node5_1 else u.leaf1 end) as grp, u.unit
from anon_scratch.main.units u
cross join heights h
where u.unit not in (select unit from anon_scratch.main.members);

-- judge: Groups of units judged by counts: those that hold and those that fail. Any other needs the exact search.
create or replace table anon_scratch.main.climbers_verdicts as
with sizes as (
    select a.grp, cast(sum(u.n) as bigint) as persons
    from anon_scratch.main.climbers a
    join anon_scratch.main.units u on u.unit = a.unit
    group by a.grp
)

select
    s.grp,
    s.persons >= 2 as holds,
    s.persons < 2 as fails
from sizes s;

-- classes leave: The groups that satisfy all guarantees become classes.
insert into anon_scratch.main.members
select unit, grp from anon_scratch.main.climbers where grp in (select grp from anon_scratch.main.climbers_verdicts where holds);

-- levels of these classes: The levels at which these classes are generalized.
insert into anon_scratch.main.class_levels
-- 5 lines as in plans/geneir.sql, climb
select p.grp, h.l1
from (select grp from anon_scratch.main.climbers_verdicts where holds) p
cross join heights h;

-- next round: One more level.
create or replace table anon_scratch.main.climbing_round as
select n + 1 as n from anon_scratch.main.climbing_round;

-- exit query of the loop: Whether enough persons remain for a class and some column is not yet at its root.
select count(*)
from anon_scratch.main.climbing_round
where n <= 5
    and (select count(*) from anon_scratch.main.units) - (select count(*) from anon_scratch.main.members) >= 2;
-- end of loop: climb

-- classes that hold: The classes as boxes of nodes, which residual persons may join.
create or replace table anon_scratch.main.closed_clusters as
with sizes as (
    select m.class_id, cast(sum(u.records) as bigint) as records
    -- 4 lines as in plans/full_domain.sql, cells of classes
boxes as (
    select
        0 as block, s.class_id as unit, s.records
, u.leaf1, u.node1_1, u.node2_1, u.node3_1, u.node4_1, u.node5_1, u.cost1_1, u.cost2_1, u.cost3_1, u.cost4_1, u.cost5_1, v.l1 as level1
    from sizes s
    join anon_scratch.main.units u on u.unit = s.class_id
    join anon_scratch.main.class_levels v on v.class_id = s.class_id
)
select block, unit, records, cast((case level1 when 0 then 0 when 1 then cost1_1 when 2 then cost2_1 when 3 then cost3_1 when 4 then cost4_1 when 5 then cost5_1 end) as bigint) as loss, leaf1, node1_1, node2_1, node3_1, node4_1, node5_1, cost1_1, cost2_1, cost3_1, cost4_1, cost5_1, level1
from boxes;

-- residual persons: The residual persons.
create or replace table anon_scratch.main.residual as
select 0 as block, unit, 0 as round
from anon_scratch.main.units
where unit not in (select unit from anon_scratch.main.members);

-- number of residual persons: The number of residual persons, whether or not they joined a class afterwards.
select count(*) as residual_persons from anon_scratch.main.residual;

-- clusters in reach: The clusters that a person without a class may try: the nearest of the current ones, in blocks as far away as the limit on comparisons allows. Blocks are numbered along the cuts.
-- 11 lines as in plans/danonyir.sql, clusters in reach
        (cast(x.records + y.records as hugeint) * ((case greatest(x.level1, y.level1, case when x.leaf1 = y.leaf1 then 0 when x.node1_1 = y.node1_1 then 1 when x.node2_1 = y.node2_1 then 2 when x.node3_1 = y.node3_1 then 3 when x.node4_1 = y.node4_1 then 4 when x.node5_1 = y.node5_1 then 5 else 5 end) when 0 then 0 when 1 then x.cost1_1 when 2 then x.cost2_1 when 3 then x.cost3_1 when 4 then x.cost4_1 when 5 then x.cost5_1 end)) - x.records * cast(x.loss as hugeint) - y.records * cast(y.loss as hugeint)) * 17179869184
        -- 10 lines as in plans/danonyir.sql, clusters in reach

-- loop: place persons elsewhere, at most 18 times, until the exit query counts 0
-- offers: The nearest clusters within reach of every person without a class, with their distances; `near` puts clusters at the same distance in an order that differs from person to person, so that persons with equal quasi-identifiers do not all ask for the same one.
create or replace table anon_scratch.main.offers as
with measured as (
    select
        x.unit,
        y.unit as grp,
        (cast(x.records + y.records as hugeint) * ((case greatest(x.level1, y.level1, case when x.leaf1 = y.leaf1 then 0 when x.node1_1 = y.node1_1 then 1 when x.node2_1 = y.node2_1 then 2 when x.node3_1 = y.node3_1 then 3 when x.node4_1 = y.node4_1 then 4 when x.node5_1 = y.node5_1 then 5 else 5 end) when 0 then 0 when 1 then x.cost1_1 when 2 then x.cost2_1 when 3 then x.cost3_1 when 4 then x.cost4_1 when 5 then x.cost5_1 end)) - x.records * cast(x.loss as hugeint) - y.records * cast(y.loss as hugeint)) * 17179869184
        + case when y.unit < x.unit then 8589934592 else 0 end + y.unit as near
    from anon_scratch.main.residual t
    join anon_scratch.main.units x on x.unit = t.unit
    -- 6 lines as in plans/danonyir.sql, offers

-- places: as in plans/danonyir.sql, places
-- next persons: as in plans/danonyir.sql, next persons
-- join: as in plans/danonyir.sql, join

-- clusters grow: The clusters after residual persons joined them.
-- 4 lines as in plans/danonyir.sql, clusters grow
        , min(x.leaf1) as leaf1
        , min(x.node1_1) as node1_1
        , min(x.node2_1) as node2_1
        , min(x.node3_1) as node3_1
        , min(x.node4_1) as node4_1
        , min(x.node5_1) as node5_1
        , min(x.cost1_1) as cost1_1
        , min(x.cost2_1) as cost2_1
        , min(x.cost3_1) as cost3_1
        , min(x.cost4_1) as cost4_1
        , min(x.cost5_1) as cost5_1
        , max(greatest(x.level1, y.level1, case when x.leaf1 = y.leaf1 then 0 when x.node1_1 = y.node1_1 then 1 when x.node2_1 = y.node2_1 then 2 when x.node3_1 = y.node3_1 then 3 when x.node4_1 = y.node4_1 then 4 when x.node5_1 = y.node5_1 then 5 else 5 end)) as level1
    -- 5 lines as in plans/danonyir.sql, clusters grow
select block, unit, records, loss, leaf1, node1_1, node2_1, node3_1, node4_1, node5_1, cost1_1, cost2_1, cost3_1, cost4_1, cost5_1, level1
from anon_scratch.main.closed_clusters
where unit not in (select unit from united)
union all
select block, unit, records, cast((case level1 when 0 then 0 when 1 then cost1_1 when 2 then cost2_1 when 3 then cost3_1 when 4 then cost4_1 when 5 then cost5_1 end) as bigint), leaf1, node1_1, node2_1, node3_1, node4_1, node5_1, cost1_1, cost2_1, cost3_1, cost4_1, cost5_1, level1
from united;

-- exit query of the loop: as in plans/danonyir.sql, exit query of the loop

-- end of loop: place persons elsewhere

-- levels of classes: The levels of the classes after residual persons joined them.
create or replace table anon_scratch.main.class_levels as
select unit as class_id, level1 as l1
from anon_scratch.main.closed_clusters;

-- some class: as in plans/danonyir.sql, some class
-- published values of zip: as in plans/full_domain.sql, published values of zip
-- nodes of zip: as in plans/full_domain.sql, nodes of zip
-- cells of classes: as in plans/full_domain.sql, cells of classes

-- write the release: The release: every published row with the cells of its class, shuffled by its draw.
-- 4 lines as in plans/danonyir.sql, write the release
    c.cell1 as "zip",
    -- 7 lines as in plans/danonyir.sql, write the release
