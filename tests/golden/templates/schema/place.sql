-- several_tables_everybody_reserved, place rows, step 0: Place the rows whose cells on this step have enough persons. A cell that lacks some borrows rows of other persons that are placed on a lower step below it, where that loses less than raising all its rows, and the cells that lend keep enough. What has no further step is suppressed.
create or replace table anon_scratch.main.known_rows as
with here as materialized (
    select
        k.class_id, k.person, l.cell,
        coalesce(u.lost, cast(l.columns * 4000000000000 as bigint)) - l.lost as spared
    from anon_scratch.main.known_rows k
    join anon_scratch.main.ladders l on l.tuple = k.tuple and l.step = 0
    left join anon_scratch.main.ladders u on u.tuple = k.tuple and u.step = 1
    -- 7 lines of the template, 75228868
-- 4 lines of the template, 8dc88b9e
            when k.step is null then coalesce(s.persons >= 3, false)
            else false
        end as placed
    from anon_scratch.main.known_rows k
    left join anon_scratch.main.ladders l on l.tuple = k.tuple and l.step = 0
    left join sizes s on k.step is null and s.class_id = k.class_id and s.cell = l.cell
)
select * exclude (cell_here, placed) replace (
    case when placed then 0 when step is null and top = 0 then 1 else step end as step,
    case when placed then cell_here else cell end as cell
)
from judged
-- 4 branches as in the template, 60b9e6e6
