-- ledger_classes, ledger joined: What a join of the new release with an earlier one discloses, on a column that identifies persons in both: how many values both have, and for how many of them the classes of the two leave fewer than k candidates, and fewer than either release alone.
with
new_all as (
    select distinct marks[1] as mark, class_id
    from anon_scratch.main.ledger_members
    where person is not null and marks[1] is not null
),
old_all as (
    select distinct marks[1] as mark, class_id
    from "anon_ledger"."anonymizer_ledger"."members"
    where release = 1 and person is not null and marks[1] is not null
-- 11 lines of the template, 0cca72a2
    where n.mark in (select m.marks[1] from anon_scratch.main.ledger_members m where m.person is not null group by 1 having count(distinct m.person) < 2) or n.mark in (select m.marks[1] from "anon_ledger"."anonymizer_ledger"."members" m where m.release = 1 and m.person is not null group by 1 having count(distinct m.person) < 2)
-- 5 lines of the template, 2eb86510
    select j.mark, min(c.left_over) as fewest, bool_or(c.left_over < 2 and c.left_over < least(n.size, o.size)) as narrowed
    -- 8 lines of the template, 5b60066c
