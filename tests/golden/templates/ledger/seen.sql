-- ledger_classes, ledger seen: Every person of the new release (0) who is also in an earlier one, with the person's class, number and groups in each of them.
create or replace table anon_scratch.main.ledger_seen as
with r0 as (
    select
        person, class_id as c, cast(null as bigint) as n, marks as m, 0 as since
, class_id as g_1, t1
    from anon_scratch.main.ledger_members
    where person is not null
),
r1 as (
    select
        person, class_id as c, number as n, marks as m, since as since
, class_id as g_1
    from "anon_ledger"."anonymizer_ledger"."members"
    where release = 1 and person is not null
),
r2 as (
    -- 4 lines as in templates/ledger/seen.sql, ledger_classes, ledger seen
    where release = 2 and person is not null
)
select
    r0.person,
    r0.since
    , r0.t1
    , r0.c as c0, r0.n as n0, r0.m as m0
    , r0.g_1 as g0_1
    , r1.c as c1, r1.n as n1, r1.m as m1
    , r1.g_1 as g1_1
    , r2.c as c2, r2.n as n2, r2.m as m2
    , r2.g_1 as g2_1
from r0
left join r1 on r1.person = r0.person
left join r2 on r2.person = r0.person
where r1.person is not null or r2.person is not null
-- ledger_buckets_of_persons, ledger seen: {% if several %}
    select
        person, min(class_id) as c, min(number) as n, cast([max(marks[1])] as uhugeint[]) as m, min(0) as since
, list_sort(list_distinct(list(b1))) as g_1, list_sort(list_distinct(list(b2))) as g_2, list_distinct(list(t1)) as t1, list_distinct(list(t2)) as t2
-- 2 branches as in the template, c663d106
