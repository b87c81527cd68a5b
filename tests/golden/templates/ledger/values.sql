-- ledger_classes, ledger values: Persons for whom all releases together admit fewer values of one column than required, and fewer than any single release admits; also how many have one value left. They count only if the person's own value is among those left, and only with releases since the value is known to have changed.
with vectors as (
    select
g0_1,
case when since <= 1 then g1_1 end as g1_1,
case when since <= 2 then g2_1 end as g2_1,
        t1 as truth,
        count(*) as persons
    from anon_scratch.main.ledger_seen
    where (since <= 1 and g1_1 is not null) or (since <= 2 and g2_1 is not null)
    group by all
),
own_0 as (
    select grp, list_distinct(signature) as signature
    from anon_scratch.main.ledger_signatures
    where facet = 'ill'
),
sets_0 as (
    select grp as groups, signature from own_0
),
own_1 as (
    select grp, list_distinct(signature) as signature
    from "anon_ledger"."anonymizer_ledger"."signatures"
    where facet = 'ill' and release = 1
),
sets_1 as (
    select grp as groups, signature from own_1
),
own_2 as (
    select grp, list_distinct(signature) as signature
    from "anon_ledger"."anonymizer_ledger"."signatures"
    where facet = 'ill' and release = 2
),
sets_2 as (
    select grp as groups, signature from own_2
),
-- 4 lines of the template, 4bc3927d
        list_intersect(list_intersect(sets_0.signature, coalesce(sets_1.signature, sets_0.signature)), coalesce(sets_2.signature, sets_0.signature)) as common,
        least(len(coalesce(sets_0.signature, sets_0.signature)), len(coalesce(sets_1.signature, sets_0.signature)), len(coalesce(sets_2.signature, sets_0.signature))) as alone
    from vectors v
    left join sets_0 on sets_0.groups = v.g0_1
    left join sets_1 on sets_1.groups = v.g1_1
    left join sets_2 on sets_2.groups = v.g2_1
-- 5 lines of the template, ccddc2b9
        len(common) < alone and coalesce(list_contains(common, truth), false) as learned
    -- 5 lines of the template, ebe33440
    cast(coalesce(sum(persons) filter (where learned and admitted < 2), 0) as bigint) as narrowed,
    cast(min(admitted) filter (where learned) as bigint) as fewest
from judged
-- 2 branches as in the template, 1ae117ce
