-- mondrian_identity_reserved, undecided halves: The persons' value sets of the halves that counts leave undecided, one list of sets per column; the best cuts of a class first, and none after one that is already known to hold. (Sets differ in length, which arrays within an array of Postgres may not.)
with judged as (
    select t.offer, t.class_id, t.rank, bool_and(v.holds) as holds
    from anon_scratch.main.halves_verdicts v
    join anon_scratch.main.offered_cuts t on t.offer = cast(floor(v.grp / 2) as bigint)
    group by t.offer, t.class_id, t.rank
    having count(*) = 2 and not bool_or(v.fails)
),
known as (
    select class_id, min(rank) as rank from judged where holds group by class_id
)
select j.class_id, j.offer, v.grp, s.col, jsonb_agg(s.codes) as sets
from judged j
left join known k on k.class_id = j.class_id
join anon_scratch.main.halves_verdicts v on cast(floor(v.grp / 2) as bigint) = j.offer
join anon_scratch.main.halves a on a.grp = v.grp
join anon_scratch.main.held_sets s on s.unit = a.unit
where not v.holds and j.rank < coalesce(k.rank, j.rank + 1)
group by j.class_id, j.offer, v.grp, s.col
order by j.offer, v.grp, s.col
join anon_scratch.main.population_compared c on c.offer = t.offer and c.holds  -- mondrian_population_of_persons, undecided halves: {% if compared %}
