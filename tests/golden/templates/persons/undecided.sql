-- mondrian_identity_reserved, undecided groups: The persons' value sets of the groups that counts leave open, one list of sets per column.
select a.grp, s.col, list(distinct s.codes) as sets
from anon_scratch.main.everybody_verdicts v
join anon_scratch.main.everybody a on a.grp = v.grp
join anon_scratch.main.held_sets s on s.unit = a.unit
where not v.holds and not v.fails
group by a.grp, s.col
