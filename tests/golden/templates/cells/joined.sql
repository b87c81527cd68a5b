-- mondrian_many_values, cells of classes: The published cells of every class, joined from the parts that were written one by one.
create or replace table anon_scratch.main.cells as
select
    p1.class_id,
    p1.number,
    p1.n
    , cell1
    , cell2
from anon_scratch.main.cells_part_1 p1
join anon_scratch.main.cells_part_2 p2 on p2.class_id = p1.class_id
