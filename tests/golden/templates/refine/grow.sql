-- mondrian_refine_driven, grow classes: One more unit for the class that grows in every block.
create or replace table anon_scratch.main.refine_grown as
select * from anon_scratch.main.refine_grown where taken
union all (
    with open as (
    select unit, block, n, turn, w1, l1, h1
    from anon_scratch.main.refine_grown
    -- 6 lines as in plans/mondrian.sql, new classes in blocks
    from anon_scratch.main.refine_grown g
    -- 40 lines as in plans/mondrian.sql, new classes in blocks

)
