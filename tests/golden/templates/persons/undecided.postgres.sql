-- mondrian_identity_reserved, undecided groups: The persons' value sets of the groups that counts leave open, one list of sets per column. (Sets differ in length, which arrays within an array of Postgres may not.)
select a.grp, s.col, jsonb_agg(distinct s.codes) as sets
from anon_scratch.main.everybody_verdicts v
join anon_scratch.main.everybody a on a.grp = v.grp
join anon_scratch.main.held_sets s on s.unit = a.unit
where not v.holds and not v.fails
group by a.grp, s.col
