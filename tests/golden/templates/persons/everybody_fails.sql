-- mondrian_identity_reserved, everybody as one class: The number of persons, if the table fails as one class; otherwise no row.
select cast(sum(u.n) as bigint) as persons
from anon_scratch.main.everybody_verdicts v
cross join anon_scratch.main.units u
where not v.holds
    and v.grp not in (select grp from anon_scratch.main.everybody_searched)
having count(*) > 0
