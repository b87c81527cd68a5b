-- mondrian_identity_reserved, everybody as one class: How many persons there are in a table that fails as one class: a row, or none.
select cast(sum(u.n) as bigint) as persons
from anon_scratch.main.everybody_verdicts v
cross join anon_scratch.main.units u
where not v.holds
    and v.grp not in (select grp from anon_scratch.main.everybody_searched)
having count(*) > 0
