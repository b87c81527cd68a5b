-- ledger_classes, ledger candidates: Persons with fewer than k candidates once the classes of all releases are intersected, and fewer than in any single release. The candidates are the persons who were in the same classes in all releases.
with vectors as (
    select c0, c1, c2, count(*) as persons
    from anon_scratch.main.ledger_seen
    -- 6 lines of the template, e35daec5
    where c1 is not null and c2 is not null
-- 4 lines of the template, 87247fd1
    where c1 is null or c2 is null
),
patterns as (
    select distinct c1 is not null as p1, c2 is not null as p2
    -- 5 lines of the template, bd2728e8
        , p.p1, case when p.p1 then v.c1 end as c1
        , p.p2, case when p.p2 then v.c2 end as c2
        , sum(v.persons) as candidates
    from patterns p
    join vectors v on (not p.p1 or v.c1 is not null) and (not p.p2 or v.c2 is not null)
    group by all
),
sizes_0 as (
    select class_id, count(*) as size
    from anon_scratch.main.ledger_members
    where person is not null
    group by class_id
),
sizes_1 as (
    select class_id, count(*) as size
    from "anon_ledger"."anonymizer_ledger"."members"
    where release = 1 and person is not null
    group by class_id
),
sizes_2 as (
    select class_id, count(*) as size
    from "anon_ledger"."anonymizer_ledger"."members"
    where release = 2 and person is not null
    group by class_id
),
-- 6 lines of the template, 92b060cf
        and j.p1 = (v.c1 is not null) and j.c1 is not distinct from v.c1
        and j.p2 = (v.c2 is not null) and j.c2 is not distinct from v.c2
-- 5 lines of the template, 22e68d98
        least(coalesce(sizes_0.size, sizes_0.size), coalesce(sizes_1.size, sizes_0.size), coalesce(sizes_2.size, sizes_0.size)) as alone
    from told v
    left join sizes_0 on sizes_0.class_id = v.c0
    left join sizes_1 on sizes_1.class_id = v.c1
    left join sizes_2 on sizes_2.class_id = v.c2
)
select
    cast(coalesce(sum(persons), 0) as bigint) as persons,
    cast(coalesce(sum(persons) filter (where candidates < 2 and candidates < alone), 0) as bigint) as narrowed,
    cast(min(candidates) as bigint) as fewest
from judged
-- 1 branch as in the template, f7f07688
