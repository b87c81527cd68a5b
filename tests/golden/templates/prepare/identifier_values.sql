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
,
named as (
    select whole, split_part(whole, ' ', 1) as first, sum(n) as n
    from (
        select v0 as whole, 1 as n from anon_scratch.main.snapshot where v0 is not null
        union all
        select v1 as whole, 1 as n from anon_scratch.main.snapshot where v1 is not null
        union all
        select v2 as whole, 1 as n from anon_scratch.main.snapshot where v2 is not null
        union all
        select v3 as whole, 1 as n from anon_scratch.main.snapshot where v3 is not null
    ) as all_named
    group by whole
),
texts as materialized (
    select row_number() over () as id, place, trim(regexp_replace(concat(' ', regexp_replace(nfc_normalize(lower(value)), '([぀-ヿ㐀-䶿一-鿿가-힣豈-﫿𠀀-𿿿])', ' \1 ', 'g'), ' '), '[^0-9a-zß-힣]+', ' ', 'g')) as value, n
    from (
        select place, value, count(*) as n
        from (
            select 0 as place, cast(s1 as varchar) as value from anon_scratch.main.snapshot
            union all
            select 3 as place, cast(q2 as varchar) as value from anon_scratch.main.snapshot
        ) as all_texts
        where regexp_matches(value, '[A-Za-zß-힣]')
        group by place, value
    ) as different
),
begun as materialized (
    select id, word, spot
    from (
        select id, unnest(listed) as word, unnest(range(1, len(listed) + 1)) as spot
        from (select id, string_split(value, ' ') as listed from texts) as split
    ) as w
    where word in (select first from named)
),
placed as (
    select id, unnest(listed) as word, unnest(range(1, len(listed) + 1)) as spot
    from (
        select id, string_split(value, ' ') as listed from texts
        where id in (select id from begun)
    ) as split
),
pairs as materialized (
    select b.id, b.spot, concat(b.word, ' ', p.word) as run
    from begun b
    join placed p on p.id = b.id and p.spot = b.spot + 1
),
runs as (
    select id, word as run from begun
    union all
    select id, run from pairs
    union all
    select b.id, concat(b.run, ' ', p.word)
    from pairs b
    join placed p on p.id = b.id and p.spot = b.spot + 2
),
met as (
    select t.place, d.whole, d.n as carried, sum(t.n) as n
    from runs r
    join named d on d.whole = r.run
    join texts t on t.id = r.id
    group by t.place, d.whole, d.n
),
anywhere as (
    select place, cast(sum(n) as bigint) as n
    from met
    where n <= 3 * carried + 2
    group by place
)
-- mondrian_driven_median, values of identifiers: {% if ids %}
    union all
    select a.place, o.known, a.n
    from anywhere a
    join own o on o.place = a.place
    where a.n >= CAST(0.05 AS DOUBLE) * o.known
-- several_tables_everybody_reserved, values of identifiers: {% if table == snapshot %} ... {% else %}
        -- as often as there are rows to one of the table above
        select v0 as whole, (select count(*) from anon_scratch.main.rows_1) / (select count(*) from anon_scratch.main.snapshot) as n
        from anon_scratch.main.snapshot where v0 is not null
