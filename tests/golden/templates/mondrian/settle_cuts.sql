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

select
    t.offer, t.class_id, t.attribute, t.code, t.single, t.units_left, t.kept_left, t.n_all, t.rank,
    case when t.turn = 0 or t.rank = f.rank then 0 else t.turn - 1 end as turn
from anon_scratch.main.offered_cuts t
left join found f on f.class_id = t.class_id
where t.turn = 0
    or t.rank = f.rank
    or (
        f.rank is null and t.turn > 1
    )
not holds  -- mondrian_population, settle cuts: select grp, holds, {% if searched %}fails{% else %}not holds{% endif %} as refused from {{ verdicts | ident }} ... {% else %}
and t.offer in (select offer from anon_scratch.main.population_compared where holds)  -- mondrian_population, settle cuts: {% if compared %}
-- mondrian_population, settle cuts: {% if monotone %},
,
refused as (
    select
        t.class_id, t.attribute,
        max(t.code) filter (where j.grp % 2 = 0) as left_code,
        min(t.code) filter (where j.grp % 2 = 1) as right_code
    from judged j
    join anon_scratch.main.offered_cuts t on t.offer = cast(floor(j.grp / 2) as bigint)
    where j.refused and not t.single
    group by t.class_id, t.attribute
)
left join refused r on r.class_id = t.class_id and r.attribute = t.attribute  -- mondrian_population, settle cuts: {% if monotone %}
-- mondrian_population, settle cuts: {% if monotone %}
        and coalesce(t.code > r.left_code, true)
        and coalesce(case when t.single then t.code <= r.right_code else t.code < r.right_code end, true)
