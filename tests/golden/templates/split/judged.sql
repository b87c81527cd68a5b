-- mondrian_parts, nodes that hold: Every node with its parent and whether it satisfies the guarantees.
select node, parent, first_leaf, last_leaf, holds
from anon_scratch.main.verdicts_on_nodes
order by node
