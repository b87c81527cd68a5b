-- mondrian_identity_reserved, settle cuts: Takes the best cut of a class whose halves both satisfy everything. Classes without one keep the cuts whose turn is still to come{% if monotone %}, except those with a half within a half that was refused{% endif %}.
create or replace table anon_scratch.main.offered_cuts as
with judged as (
    select grp, holds, fails as refused from anon_scratch.main.halves_verdicts
    union all
    select grp, holds, not holds from anon_scratch.main.halves_searched
),
found as (
    select t.class_id, min(t.rank) as rank
    from anon_scratch.main.offered_cuts t
    where t.offer in (select cast(floor(grp / 2) as bigint) from judged where holds group by 1 having count(*) = 2)
    group by t.class_id
)
-- 4 lines of the template, 1e9f820a
from anon_scratch.main.offered_cuts t
left join found f on f.class_id = t.class_id
-- 4 lines of the template, 3a6c6c61
    )
-- 5 branches as in the template, 24e74a65
