-- mondrian_refine_driven, units without a new class: The units of every block, none of which has a new class yet.
create or replace table anon_scratch.main.refine_grown as
with units as (
    -- 18 lines as in plans/mondrian.sql, new classes in blocks
