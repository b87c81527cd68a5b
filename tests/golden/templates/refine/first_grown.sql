-- mondrian_refine_driven, units without a new class: The units of every block, none of which has a new class yet.
create or replace table anon_scratch.main.refine_grown as
select
    -- 13 lines as in plans/mondrian.sql, new classes in blocks
