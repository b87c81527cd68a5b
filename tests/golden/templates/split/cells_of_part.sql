-- mondrian_parts, values of a part: What a table has of the units of a part: their sensitive values, their persons.
select *
from anon_scratch.main.cells_1
where unit between $first and $last
