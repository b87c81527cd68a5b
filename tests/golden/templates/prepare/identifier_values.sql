-- danonyir, values of identifiers: How many values of published columns hold a value of an identifier column, by column: that of their own row, or any that is rare in the column, since a frequent word is an ordinary word. The words of a text are rows; those that begin a value are joined with the next two.
create or replace table anon_scratch.main.identifier_hits as
with
own as (
    select
        0 as place,
        count(s1) as known,
        count(case when held_0 then 1 end) as n
    from anon_scratch.main.snapshot
    union all
    select
        1 as place,
        count(q1) as known,
        count(case when held_1 then 1 end) as n
    from anon_scratch.main.snapshot
)
select place, n
from (
    select place, known, n from own where n >= CAST(0.01 AS DOUBLE) * known
) as found
where n >= 3
-- mondrian_driven_median, values of identifiers: {% if ids %}
-- 4 lines of the template, 0e677e70
        select v0 as whole, 1 as n from anon_scratch.main.snapshot where v0 is not null
        union all
        select v1 as whole, 1 as n from anon_scratch.main.snapshot where v1 is not null
        union all
        select v2 as whole, 1 as n from anon_scratch.main.snapshot where v2 is not null
        union all
        select v3 as whole, 1 as n from anon_scratch.main.snapshot where v3 is not null
    -- 4 lines of the template, fefd2a9a
    select row_number() over () as id, place, trim(regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(value)), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g')) as value, n
    from (
        select place, value, count(*) as n
        from (
            select 0 as place, cast(s1 as varchar) as value from anon_scratch.main.snapshot
            union all
            select 3 as place, cast(q2 as varchar) as value from anon_scratch.main.snapshot
        ) as all_texts
        where regexp_matches(value, '[A-Za-zß-힣]')
        -- 45 lines of the template, a11bc4fc
-- 2 branches as in the template, 736f2d5d
