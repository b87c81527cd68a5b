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
placed  -- masks_with_a_key, encode rows: from {% if copies %}copied{% else %}placed{% endif %} ... {% else %}
row_ref  -- mondrian_many_values, encode rows: {% if parts %}
(select rowid as row_ref, * from anon_scratch.main.snapshot)  -- mondrian_many_values, encode rows: from {% if parts %}(select rowid as row_ref, * from {{ snapshot | ident }}){% else %}{{ snapshot | ident }}{% endif %} s
join anon_scratch.main.codes_part_1 using (row_ref)  -- mondrian_many_values, encode rows: {% for part in parts %}
, case when coalesce(s.f3, true) then 1 else 0 end as pattern  -- lgb_ncp, encode rows: {% if flagged %}
, pattern  -- lgb_ncp, encode rows: {% if flagged %}
, c1  -- m_invariance_persons, encode rows: {% if parts %}
+  -- lgb_parts, encode rows: , {% for a in flagged %}case when coalesce(s.{{ a.f }}, true) then {{ a.bit }} else 0 end{% if not loop.last %} + {% endif %}{% endfor %} as pattern
