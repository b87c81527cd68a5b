-- privacyfrost_suppressing, best table within the budget: The table with the best score; of equals the one with more different values if the policy asks for it, then the one that the search ended with, and of others the one that suppresses least.
create or replace table anon_scratch.main.search_state as
with best as (
    select n.*
    from anon_scratch.main.lattice_judged j
    join anon_scratch.main.lattice_nodes n on n.number = j.number
    where j.holds
    order by j.loss, j.fewer, j.number > 2, j.suppressed, j.number
    limit 1
)
select
    unnest([0, 1]) as attribute,
    unnest([5 - l1, 1 - l2]) as depth
from best
