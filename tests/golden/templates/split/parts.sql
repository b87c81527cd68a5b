-- mondrian_parts, parts as ranges of units: Every part as a range of units, and how many it has.
select p.part, min(l.first_unit), max(l.last_unit), cast(sum(l.units) as bigint)
from anon_scratch.main.parts p
join anon_scratch.main.leaves_of_cuts l on l.leaf between p.first_leaf and p.last_leaf
group by p.part
order by p.part
