-- lines that refer to other files are explained in tests/golden/README.md

-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    cast("ill" as varchar) collate "binary" as s1,
    cast("ward" as varchar) collate "binary" as k1,
    "patient" as person,
    md5(concat(coalesce(cast(strlen(cast("visit" as varchar)) as varchar), '-1'), ':', cast("visit" as varchar), coalesce(cast(strlen(cast("patient" as varchar)) as varchar), '-1'), ':', cast("patient" as varchar), coalesce(cast(strlen(cast("age" as varchar)) as varchar), '-1'), ':', cast("age" as varchar), coalesce(cast(strlen(cast("born" as varchar)) as varchar), '-1'), ':', cast("born" as varchar), coalesce(cast(strlen(cast("zip" as varchar) collate "binary") as varchar), '-1'), ':', cast("zip" as varchar) collate "binary", coalesce(cast(strlen(cast("sex" as varchar) collate "binary") as varchar), '-1'), ':', cast("sex" as varchar) collate "binary", coalesce(cast(strlen(cast("ward" as varchar) collate "binary") as varchar), '-1'), ':', cast("ward" as varchar) collate "binary", coalesce(cast(strlen(cast("hide" as varchar)) as varchar), '-1'), ':', cast("hide" as varchar), coalesce(cast(strlen(cast("ill" as varchar) collate "binary") as varchar), '-1'), ':', cast("ill" as varchar) collate "binary", coalesce(cast(strlen(cast("cost" as varchar)) as varchar), '-1'), ':', cast("cost" as varchar))) as identity,
    (case when strpos(cast("ward" as varchar) collate "binary", case when abs(cast("patient" as double)) >= 10000 and abs(cast("patient" as double)) <= 1e300 then regexp_replace(cast("patient" as varchar) collate "binary", '^-|[.]0*$', '', 'g') end) > 0 then strpos(regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(cast("ward" as varchar) collate "binary")), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g'), regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(case when abs(cast("patient" as double)) >= 10000 and abs(cast("patient" as double)) <= 1e300 then regexp_replace(cast("patient" as varchar) collate "binary", '^-|[.]0*$', '', 'g') end)), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g')) > 0 else false end) as held_0,
    (case when strpos(cast("ill" as varchar) collate "binary", case when abs(cast("patient" as double)) >= 10000 and abs(cast("patient" as double)) <= 1e300 then regexp_replace(cast("patient" as varchar) collate "binary", '^-|[.]0*$', '', 'g') end) > 0 then strpos(regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(cast("ill" as varchar) collate "binary")), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g'), regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(case when abs(cast("patient" as double)) >= 10000 and abs(cast("patient" as double)) <= 1e300 then regexp_replace(cast("patient" as varchar) collate "binary", '^-|[.]0*$', '', 'g') end)), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g')) > 0 else false end) as held_1
from "anon_source"."main"."people";

-- values of identifiers: as in templates/prepare/identifier_values.sql
-- suspected identifiers: as in templates/prepare/suspects.sql
-- identifiers in published text: as in templates/prepare/identifiers_in_text.sql

-- checks of the source: Counts of the source that make a run impossible, each under its number. (stops the run if it returns rows)
with counted as (
    select count(*) - count(person) as n1, (select case when count(*) > 1 and count(*) filter (where persons = 1) >= 0.9 * count(*) then count(*) else 0 end from (select value, count(*) as persons from (select distinct k1 as value, person from anon_scratch.main.snapshot where k1 is not null) as pairs group by value) as owners) as n2, (select case when count(*) > 1 and count(*) filter (where persons = 1) >= 0.9 * count(*) then count(*) else 0 end from (select value, count(*) as persons from (select distinct s1 as value, person from anon_scratch.main.snapshot where s1 is not null) as pairs group by value) as owners) as n3
    -- 5 lines as in plans/msb.sql, checks of the source
union all
select 3 as number, cast(n3 as bigint) as n from counted where n3 > 0;

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
-- 4 lines as in plans/mondrian.sql, encode rows
        , s.identity
        , s.s1
        , s.k1
        , s.person
    from anon_scratch.main.snapshot s
),
copied as (
    select *, row_number() over (partition by "identity") as copy
    -- 4 lines as in plans/mondrian.sql, encode rows
        md5_number(concat($secret, ':', "identity", ':', copy)) as draw
        , row_ref
        , s1
        , k1
        , person
    -- 4 lines as in plans/mondrian.sql, encode rows

-- numbers of persons: as in plans/danonyir.sql, numbers of persons

-- write the release: The release without classes: every row, shuffled by its draw.
create or replace table anon_scratch.main.staged as
select
    dense_rank() over (order by p.number) as "person_id",
    r.k1 as "ward",
    r.s1 as "ill"
from anon_scratch.main.coded r
join anon_scratch.main.persons p on p.person = r.person
order by r.draw;
