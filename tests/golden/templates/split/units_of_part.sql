-- mondrian_parts, units of a part: The units of a part with their codes.
select unit, n, c1, c2
from anon_scratch.main.units
where unit between $first and $last
, pattern  -- lgb_parts, units of a part: select unit, n{% for column in carried %}, {{ column }}{% endfor %}, {{ codes | join }}
