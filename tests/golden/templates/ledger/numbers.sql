-- ledger_classes, ledger numbers: Numbers that the same persons have in the new release and in an earlier one.
select
    1 as release,
    count(*) filter (where n0 = n1) as numbers,
    -- the persons of a class get their old number together, so classes are counted
    count(distinct case when c0 = c1 then c0 end) as classes,
    (select count(*) from (select distinct c0, c1 from anon_scratch.main.ledger_seen where c1 is not null)) as meetings,
    (select count(distinct class_id) from anon_scratch.main.ledger_members) as different,
    (
        select count(*)
        from anon_scratch.main.ledger_seen
        where
m0[1] = m1[1] and (
                m0[1] in (select m.marks[1] from anon_scratch.main.ledger_members m where m.person is not null group by 1 having count(distinct m.person) < 2)
                or m0[1] in (select m.marks[1] from "anon_ledger"."anonymizer_ledger"."members" m where m.release = 1 and m.person is not null group by 1 having count(distinct m.person) < 2)
            )
or m0[2] = m1[2] and (
                m0[2] in (select m.marks[2] from anon_scratch.main.ledger_members m where m.person is not null group by 1 having count(distinct m.person) < 2)
                or m0[2] in (select m.marks[2] from "anon_ledger"."anonymizer_ledger"."members" m where m.release = 1 and m.person is not null group by 1 having count(distinct m.person) < 2)
            )
    ) as marks
from anon_scratch.main.ledger_seen
union all
select
    2 as release,
    count(*) filter (where n0 = n2) as numbers,
    -- the persons of a class get their old number together, so classes are counted
    count(distinct case when c0 = c2 then c0 end) as classes,
    (select count(*) from (select distinct c0, c2 from anon_scratch.main.ledger_seen where c2 is not null)) as meetings,
    -- 5 lines as in templates/ledger/numbers.sql, ledger_classes, ledger numbers
m0[1] = m2[1] and (
                m0[1] in (select m.marks[1] from anon_scratch.main.ledger_members m where m.person is not null group by 1 having count(distinct m.person) < 2)
                or m0[1] in (select m.marks[1] from "anon_ledger"."anonymizer_ledger"."members" m where m.release = 2 and m.person is not null group by 1 having count(distinct m.person) < 2)
            )
or m0[2] = m2[2] and (
                m0[2] in (select m.marks[2] from anon_scratch.main.ledger_members m where m.person is not null group by 1 having count(distinct m.person) < 2)
                or m0[2] in (select m.marks[2] from "anon_ledger"."anonymizer_ledger"."members" m where m.release = 2 and m.person is not null group by 1 having count(distinct m.person) < 2)
            )
    ) as marks
from anon_scratch.main.ledger_seen
-- 1 branch as in the template, e9d4e2e4
