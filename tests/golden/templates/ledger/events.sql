-- ledger_tables, ledger events: Persons whom an observer who knows some of their rows can single out from the releases together: fewer than k persons were in the same classes and have, for each of the rows, one of their own that looks the same in every release. A row that a release does not have looks like nothing else there.
with patterns as materialized (
    select *, row_number() over () as pattern
    from (
        select distinct c1 is not null as p1, c2 is not null as p2
        from anon_scratch.main.ledger_seen
    -- 5 lines of ledger/_candidates.sql.j2, c97846b2
        p.p1,
        p.p2,
p.p1 = (s.c1 is not null) and p.p2 = (s.c2 is not null) as own,
        dense_rank() over (order by p.pattern, s.c0, case when p.p1 then s.c1 end, case when p.p2 then s.c2 end) as grp
    from anon_scratch.main.ledger_seen s
    join patterns p on (not p.p1 or s.c1 is not null) and (not p.p2 or s.c2 is not null)
)
,
lines as (
    select 0 as place, person, source, case when source in ('visits') then by_key else content end as original, cells
    from anon_scratch.main.ledger_rows where remembered and cells is not null
    union all
    select 1 as place, person, source, case when source in ('visits') then by_key else content end as original, cells
    from "anon_ledger"."anonymizer_ledger"."rows" where release = 1 and cells is not null
    union all
    select 2 as place, person, source, case when source in ('visits') then by_key else content end as original, cells
    from "anon_ledger"."anonymizer_ledger"."rows" where release = 2 and cells is not null
),
matched as (
    select person, source, min(cells) filter (where place = 0) as e0, min(cells) filter (where place = 1) as e1, min(cells) filter (where place = 2) as e2
    -- 4 lines of the template, 799fb608
    select c.person, c.grp, c.own, m.source, m.e0 as e0, case when c.p1 then m.e1 end as e1, case when c.p2 then m.e2 end as e2
    -- 4 lines of the template, 41940008
    select person, grp, own, dense_rank() over (order by source, e0, e1, e2) as cells
    from looks
    where e0 is not null or e1 is not null or e2 is not null
-- 10 lines of the template, ce4756a2
    join (values (1)) c(copy) on c.copy <= k.copies
),
sets as (
    -- fewer than k persons are left of a set, so that all of them are listed
    select count(*) as persons, min(person, 2) filter (where own) as whose
    from items
    group by grp, cells, copy
    having count(*) < 3 and bool_or(own)
)
select
    (select count(*) from anon_scratch.main.ledger_seen) as persons,
    (select count(distinct person) from (select unnest(whose) as person from sets)) as narrowed,
    (select min(persons) from sets) as fewest
-- 5 branches as in the template, 8ccc7ea1
