-- danonyir_eir_l, pieces of large parts: The pieces along the codes of the parts that are too large, to be judged.
create or replace table anon_scratch.main.pieces as
with pieces as (
    select m.class_id, floor((row_number() over (partition by m.class_id order by c1, c2, u.unit) - 1)
            * ceil(count(*) over (partition by m.class_id) / 128) / count(*) over (partition by m.class_id)) as piece, u.unit
    from anon_scratch.main.units u
    join anon_scratch.main.members m on m.unit = u.unit
    qualify count(*) over (partition by m.class_id) > 128
)
select dense_rank() over (order by class_id, piece) as grp, unit
from pieces
