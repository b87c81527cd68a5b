-- ledger/numbered.sql.j2
create or replace table anon_scratch.main.ledger_numbered as
select 'sex' as facet, cast(md5_number_lower(text) >> 1 as bigint) as value, text
from (
    select distinct cast(value as varchar) as text
    from (select distinct o.q4 as value from anon_scratch.main.originals o)
    where value is not null
)
union all
select 'ill' as facet, cast(md5_number_lower(text) >> 1 as bigint) as value, text
from (
    select distinct cast(value as varchar) as text
    from (select distinct o.s1 as value from anon_scratch.main.originals o)
    where value is not null
);

-- ledger/members.sql.j2
create or replace table anon_scratch.main.ledger_members as
select
    o.person,
    l."class_id" as class_id
    , l."person_id" as number
    , cast(l."sex_bucket" as bigint) as b1, v1.value as t1
    , cast(l."ill_bucket" as bigint) as b2, v2.value as t2
from anon_scratch.main.link l
left join (select
    rowid as row_ref,
    md5_number(concat($ledger_key, ':person:', cast(person as varchar))) as person
    , q4
    , s1
from anon_scratch.main.snapshot) o on o.row_ref = l.row_ref
left join (
    select value, text as own from anon_scratch.main.ledger_numbered where facet = 'sex'
) v1 on v1.own = cast(o.q4 as varchar)
left join (
    select value, text as own from anon_scratch.main.ledger_numbered where facet = 'ill'
) v2 on v2.own = cast(o.s1 as varchar)
order by l.row_ref;

-- ledger/signatures.sql.j2
create or replace table anon_scratch.main.ledger_signatures as
with shown_1 as (
    select b1 as grp, list(t1) as t1
    from (
        select b1, t1
        from anon_scratch.main.ledger_members
        where b1 is not null
        order by b1
    )
    group by b1
),
shown_2 as (
    select b2 as grp, list(t2) as t2
    from (
        select b2, t2
        from anon_scratch.main.ledger_members
        where b2 is not null
        order by b2
    )
    group by b2
)
select 'sex' as facet, grp, list_sort(t1) as signature from shown_1
union all
select 'ill' as facet, grp, list_sort(t2) as signature from shown_2;

-- ledger/dictionary.sql.j2
create or replace table anon_scratch.main.ledger_dictionary as
select facet, value, text
from anon_scratch.main.ledger_numbered
where facet = 'sex'
    and value in (select t1 from anon_scratch.main.ledger_members where b1 is not null)
union all
select facet, value, text
from anon_scratch.main.ledger_numbered
where facet = 'ill'
    and value in (select t2 from anon_scratch.main.ledger_members where b2 is not null);

-- ledger/seen.sql.j2
create or replace table anon_scratch.main.ledger_seen as
with r0 as (
    select
        person, min(class_id) as c, min(number) as n, min(0) as since
, list_sort(list_distinct(list(b1))) as g_1, list_sort(list_distinct(list(b2))) as g_2, list_distinct(list(t1)) as t1, list_distinct(list(t2)) as t2
    from anon_scratch.main.ledger_members
    where person is not null
    group by person
),
r1 as (
    select
        person, min(class_id) as c, min(number) as n, min(since) as since
, list_sort(list_distinct(list(buckets[1]))) as g_1, list_sort(list_distinct(list(buckets[2]))) as g_2
    from "anon_ledger"."anonymizer_ledger"."members"
    where release = 1 and person is not null
    group by person
)
select
    r0.person,
    r0.since
    , r0.t1
    , r0.t2
    , r0.c as c0, r0.n as n0
    , r0.g_1 as g0_1
    , r0.g_2 as g0_2
    , r1.c as c1, r1.n as n1
    , r1.g_1 as g1_1
    , r1.g_2 as g1_2
from r0
left join r1 on r1.person = r0.person
where r1.person is not null;

-- ledger/candidates.sql.j2
with vectors as (
    select c0, c1, count(*) as persons
    from anon_scratch.main.ledger_seen
    group by all
),
-- whoever stood in all releases has for candidates those of the same classes in all of them
complete as (
    select *
    from vectors
    where c1 is not null
),
partial as (
    select *
    from vectors
    where c1 is null
),
patterns as (
    select distinct c1 is not null as p1
    from partial
),
projected as (
    select
        v.c0
        , p.p1, case when p.p1 then v.c1 end as c1
        , sum(v.persons) as candidates
    from patterns p
    join vectors v on (not p.p1 or v.c1 is not null)
    group by all
),
sizes_0 as (
    select class_id, count(distinct person) as size
    from anon_scratch.main.ledger_members
    where person is not null
    group by class_id
),
sizes_1 as (
    select class_id, count(distinct person) as size
    from "anon_ledger"."anonymizer_ledger"."members"
    where release = 1 and person is not null
    group by class_id
),
told as (
    select *, persons as candidates from complete
    union all
    select v.*, j.candidates
    from partial v
    join projected j on j.c0 = v.c0
        and j.p1 = (v.c1 is not null) and j.c1 is not distinct from v.c1
),
judged as (
    select
        v.persons,
        v.candidates,
        least(coalesce(sizes_0.size, sizes_0.size), coalesce(sizes_1.size, sizes_0.size)) as alone
    from told v
    left join sizes_0 on sizes_0.class_id = v.c0
    left join sizes_1 on sizes_1.class_id = v.c1
)
select
    cast(coalesce(sum(persons), 0) as bigint) as persons,
    cast(coalesce(sum(persons) filter (where candidates < 2 and candidates < alone), 0) as bigint) as narrowed,
    cast(min(candidates) as bigint) as fewest
from judged;

-- ledger/values.sql.j2
with vectors as (
    select
g0_1,
case when since <= 1 then g1_1 end as g1_1,
        t1 as truth,
        count(*) as persons
    from anon_scratch.main.ledger_seen
    where (since <= 1 and g1_1 is not null)
    group by all
),
own_0 as (
    select grp, list_distinct(signature) as signature
    from anon_scratch.main.ledger_signatures
    where facet = 'sex'
),
sets_0 as (
    select v.groups, list_distinct(flatten(list(s.signature))) as signature
    from (select distinct g0_1 as groups, unnest(g0_1) as grp from vectors) v
    join own_0 s on s.grp = v.grp
    group by v.groups
),
own_1 as (
    select grp, list_distinct(signature) as signature
    from "anon_ledger"."anonymizer_ledger"."signatures"
    where facet = 'sex' and release = 1
),
sets_1 as (
    select v.groups, list_distinct(flatten(list(s.signature))) as signature
    from (select distinct g1_1 as groups, unnest(g1_1) as grp from vectors) v
    join own_1 s on s.grp = v.grp
    group by v.groups
),
compared as (
    select
        v.persons,
        v.truth,
        list_intersect(sets_0.signature, coalesce(sets_1.signature, sets_0.signature)) as common,
        least(len(coalesce(sets_0.signature, sets_0.signature)), len(coalesce(sets_1.signature, sets_0.signature))) as alone
    from vectors v
    left join sets_0 on sets_0.groups = v.g0_1
    left join sets_1 on sets_1.groups = v.g1_1
),
judged as (
    select
        persons,
        len(common) as admitted,
        len(common) < alone and coalesce(list_has_any(common, truth), false) as learned
    from compared
)
select
    cast(coalesce(sum(persons), 0) as bigint) as persons,
    cast(coalesce(sum(persons) filter (where learned and admitted = 1), 0) as bigint) as certain,
    cast(coalesce(sum(persons) filter (where learned and admitted < 2), 0) as bigint) as narrowed,
    cast(min(admitted) filter (where learned) as bigint) as fewest
from judged;

-- ledger/values.sql.j2
with vectors as (
    select
g0_2,
case when since <= 1 then g1_2 end as g1_2,
        t2 as truth,
        count(*) as persons
    from anon_scratch.main.ledger_seen
    where (since <= 1 and g1_2 is not null)
    group by all
),
own_0 as (
    select grp, list_distinct(signature) as signature
    from anon_scratch.main.ledger_signatures
    where facet = 'ill'
),
sets_0 as (
    select v.groups, list_distinct(flatten(list(s.signature))) as signature
    from (select distinct g0_2 as groups, unnest(g0_2) as grp from vectors) v
    join own_0 s on s.grp = v.grp
    group by v.groups
),
own_1 as (
    select grp, list_distinct(signature) as signature
    from "anon_ledger"."anonymizer_ledger"."signatures"
    where facet = 'ill' and release = 1
),
sets_1 as (
    select v.groups, list_distinct(flatten(list(s.signature))) as signature
    from (select distinct g1_2 as groups, unnest(g1_2) as grp from vectors) v
    join own_1 s on s.grp = v.grp
    group by v.groups
),
compared as (
    select
        v.persons,
        v.truth,
        list_intersect(sets_0.signature, coalesce(sets_1.signature, sets_0.signature)) as common,
        least(len(coalesce(sets_0.signature, sets_0.signature)), len(coalesce(sets_1.signature, sets_0.signature))) as alone
    from vectors v
    left join sets_0 on sets_0.groups = v.g0_2
    left join sets_1 on sets_1.groups = v.g1_2
),
judged as (
    select
        persons,
        len(common) as admitted,
        len(common) < alone and coalesce(list_has_any(common, truth), false) as learned
    from compared
)
select
    cast(coalesce(sum(persons), 0) as bigint) as persons,
    cast(coalesce(sum(persons) filter (where learned and admitted = 1), 0) as bigint) as certain,
    cast(coalesce(sum(persons) filter (where learned and admitted < 2), 0) as bigint) as narrowed,
    cast(min(admitted) filter (where learned) as bigint) as fewest
from judged;

-- ledger/numbers.sql.j2
select
    1 as release,
    count(*) filter (where n0 = n1) as numbers,
    -- the persons of a class meet their old number together, so classes are counted
    count(distinct case when c0 = c1 then c0 end) as classes,
    (select count(*) from (select distinct c0, c1 from anon_scratch.main.ledger_seen where c1 is not null)) as meetings,
    (select count(distinct class_id) from anon_scratch.main.ledger_members) as different,
    0 as marks
from anon_scratch.main.ledger_seen;
