-- mondrian, encode rows: The rows as on the other engines. Codes are found by joins on equality, which can be hashed; NULL, which equals nothing, has the code 0. Draws are made in two steps, each in a subquery that `offset '0'` keeps separate (an unquoted 0 would also exclude parallel workers): as one expression it would need a subquery for every row, which no parallel worker computes.
-- 4 lines as in plans/mondrian.sql, encode rows
        , cast(coalesce(d1.code, 0) as bigint) * 9 + coalesce(d2.code, 0) as t1
    from anon_scratch.main.snapshot s
    left join anon_scratch.main.domain_1 d1 on d1.value = s.q1
    left join anon_scratch.main.domain_2 d2 on d2.value = s.q2
-- 5 lines as in plans/mondrian.sql, encode rows
digested as (
    select
        unhex(md5(concat($secret, ':', t1, ':', copy))) as digest
        , row_ref
        , t1
from copied
    -- 5 lines of the template, af1bc316
        , row_ref
        , t1
from digested
)
select *
from drawn
, coalesce(d1.code, 0) as c1  -- lgb, encode rows: {% if not packed %}
, case when coalesce(s.f3, true) then 1 else 0 end as pattern  -- lgb_ncp, encode rows: {% if flagged %}
-- 11 branches as in the template, 86e75844
