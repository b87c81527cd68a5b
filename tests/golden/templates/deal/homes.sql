-- mondrian_tree_distance, units left over: Units of classes that are large enough; all others are left over.
create or replace table anon_scratch.main.deal_homes as
with whole as (
    select b.block, g.grp
    from anon_scratch.main.deal_groups g
    join anon_scratch.main.deal_blocks b on b.unit = g.unit
    group by b.block, g.grp
    having count(*) >= (select max(goal) from anon_scratch.main.deal_size)
)
select b.unit, b.block, b.bin, w.grp, 0 as turn
from anon_scratch.main.deal_blocks b
left join anon_scratch.main.deal_groups g on g.unit = b.unit
left join whole w on w.block = b.block and w.grp = g.grp
