-- several_tables_two_events, sets of too few persons: The sets of rows that too few persons of a class hold: single cells first; of the classes without any, pairs of cells, equal ones among them; of those without any, sets of three.
create or replace table anon_scratch.main.broken_sets as
with singles as materialized (
    select class_id, cell
    from anon_scratch.main.held_cells
    group by class_id, cell
    having count(*) < 3
),
sound as materialized (
    select h.* from anon_scratch.main.held_cells h
    -- 6 lines of the template, 1383ef6b
    having count(*) filter (where n >= 2) between 1 and 2
    -- 5 lines of the template, 1f4aee2d
    having count(*) < 3
)
select class_id, cell as one, cast(null as bigint) as two, cast(null as bigint) as three from singles
union all
select class_id, one, two, null from pairs
-- several_tables_three_events, sets of too few persons: ){% endif %}{% if events > 2 %},
,
-- 8 lines of the template, d4242ce9
    having count(*) filter (where n >= 3) between 1 and 2
    -- 6 lines of the template, 90b9429a
    having count(*) < 3
    -- 6 lines of the template, fc7005c1
    having count(*) < 3
)
-- 1 branch as in the template, e1389676
