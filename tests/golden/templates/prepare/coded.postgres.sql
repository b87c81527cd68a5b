-- mondrian, encode rows: The rows as on the other engines. Codes are found by joins on equality, which can be hashed; NULL, which equals nothing, has the code 0. Draws are made in two steps, each in a subquery that `offset '0'` keeps separate (an unquoted 0 would also exclude parallel workers): as one expression it would need a subquery for every row, which no parallel worker computes.
create or replace table anon_scratch.main.coded as
with placed as (
    select
        s.rowid as row_ref
        , cast(coalesce(d1.code, 0) as bigint) * 9 + coalesce(d2.code, 0) as t1
    from anon_scratch.main.snapshot s
    left join anon_scratch.main.domain_1 d1 on d1.value = s.q1
    left join anon_scratch.main.domain_2 d2 on d2.value = s.q2
),
copied as (
    select *, row_number() over (partition by t1) as copy
    from placed
),
digested as (
    select
        unhex(md5(concat($secret, ':', t1, ':', copy))) as digest
        , row_ref
        , t1
from copied
    offset '0'
),
drawn as (
    select
        draw_of(digest) as draw
        , row_ref
        , t1
from digested
)
select *
from drawn
, coalesce(d1.code, 0) as c1  -- lgb, encode rows: {% if not packed %}
, s.identity  -- lgb, encode rows: {% if has_identity %}
, s.s1  -- lgb, encode rows: {% for column in carried %}
, s1  -- lgb, encode rows: {% for column in carried %}
row_number() over (order by draw) as row_id,  -- lgb, encode rows: select {% if numbered %}row_number() over (order by draw) as row_id, {% endif %}*
-- 8 lines as in templates/prepare/coded.sql
