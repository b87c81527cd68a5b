-- several_tables_two_events, raise: Raise rows of classes with broken sets by one step; above the root they are suppressed.
create or replace table anon_scratch.main.known_rows as
-- 4 lines of the template, 9c6a1783
    from anon_scratch.main.known_rows k
    semi join anon_scratch.main.broken_sets b on b.class_id = k.class_id
-- 4 lines of the template, be4e259c
    left join anon_scratch.main.raised_cells c on c.class_id = k.class_id and c.cell = k.cell
    left join anon_scratch.main.raised_items i on i.class_id = k.class_id and i.person = k.person and i.cell = k.cell
-- 6 lines of the template, c1529ffe
left join anon_scratch.main.ladders l on m.goes and l.tuple = m.tuple and l.step = m.step + 1
