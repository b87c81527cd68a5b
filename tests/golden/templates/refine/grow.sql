-- mondrian_refine_driven, grow classes: One more unit for the class that grows in every block.
create or replace table anon_scratch.main.refine_grown as
select * from anon_scratch.main.refine_grown where taken
union all (
    with open as (
    select
        g.*
, (g.w1 | g.gw1) as jw1, least(g.l1, g.gl1) as jl1, greatest(g.h1, g.gh1) as jh1

    from anon_scratch.main.refine_grown g
    -- 29 lines as in plans/mondrian.sql, new classes in blocks

)
