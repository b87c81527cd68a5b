-- mondrian_parts, tree of coarse cuts: The coarse cuts, level by level.
select level, node, attribute, code, single, units_left
from anon_scratch.main.coarse_cuts
order by level, node
