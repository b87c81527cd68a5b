-- mondrian_tree_distance, no rounds of swaps yet: No round of swaps has been made since near classes were looked for.
create or replace table anon_scratch.main.refine_rounds as
select 0 as number, cast(0 as bigint) as swaps, cast(0 as bigint) as saved, cast(coalesce(sum(lost), 0) as bigint) as lost
from anon_scratch.main.refine_classes
