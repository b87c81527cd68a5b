-- mondrian_identity_reserved, undecided halves: The persons' value sets of the halves that counts leave undecided, one list of sets per column; the best cuts of a class first, and none after one that is already known to hold.
with judged as (
    select t.offer, t.class_id, t.rank, bool_and(v.holds) as holds
    from anon_scratch.main.halves_verdicts v
    join anon_scratch.main.offered_cuts t on t.offer = cast(floor(v.grp / 2) as bigint)
    -- 9 lines of the template, caf2c141
join anon_scratch.main.halves_verdicts v on cast(floor(v.grp / 2) as bigint) = j.offer
join anon_scratch.main.halves a on a.grp = v.grp
join anon_scratch.main.held_sets s on s.unit = a.unit
where not v.holds and j.rank < coalesce(k.rank, j.rank + 1)
group by j.class_id, j.offer, v.grp, s.col
order by j.offer, v.grp, s.col
-- 1 branch as in the template, 3501c3aa
