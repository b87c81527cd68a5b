-- mondrian_parts, values of a part: The values of one sensitive column in the units of a part.
select *
from anon_scratch.main.cells_1
where unit between $first and $last
