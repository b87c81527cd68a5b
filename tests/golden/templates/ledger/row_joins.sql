-- ledger_classes, ledger row_joins: What a join of rows discloses, on columns that the new release and an earlier one both publish as they are, and that only together tell rows apart. An observer knows both classes of a person; in either release the row is one of those that have a partner in the other class.
with here as (
    select person, class_id as c, t1 as v,
        md5_number(concat_ws('|', coalesce(cast(marks[3] as varchar), '-'), coalesce(cast(marks[4] as varchar), '-'))) as u
    from anon_scratch.main.ledger_members
    -- 5 lines of the template, 89c53ed0
    join "anon_ledger"."anonymizer_ledger"."members" o on o.person = h.person
    where o.release = 1
-- 4 lines of the template, 4ac0287b
-- 13 lines of the template, 64a01f6e
judged as (
    select r.persons, r.admitted, r.admitted < w.admitted as learned
    from remaining r
    join whole w on w.c = r.here
)
select
    cast(coalesce(sum(persons), 0) as bigint) as persons,
    cast(coalesce(sum(persons) filter (where learned and admitted < 2), 0) as bigint) as narrowed
from judged
