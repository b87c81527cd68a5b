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
),
new_sizes as (
    select class_id, count(*) as size from new_all group by class_id
),
old_sizes as (
    select class_id, count(*) as size from old_all group by class_id
),
joined as (
    select n.mark, n.class_id as here, o.class_id as there
    from new_all n
    join old_all o on o.mark = n.mark
    where n.mark in (select m.marks[1] from anon_scratch.main.ledger_members m where m.person is not null group by 1 having count(distinct m.person) < 2) or n.mark in (select m.marks[1] from "anon_ledger"."anonymizer_ledger"."members" m where m.release = 1 and m.person is not null group by 1 having count(distinct m.person) < 2)
),
candidates as (
    select here, there, count(*) as left_over from joined group by here, there
),
judged as (
    select j.mark, min(c.left_over) as fewest, bool_or(c.left_over < 2 and c.left_over < least(n.size, o.size)) as narrowed
    from joined j
    join candidates c on c.here = j.here and c.there = j.there
    join new_sizes n on n.class_id = j.here
    join old_sizes o on o.class_id = j.there
    group by j.mark
)
select count(*) as persons, count(*) filter (where narrowed) as narrowed, min(fewest) as fewest
from judged
