-- mondrian_refine_driven, new classes: The new class of every unit that has one.
create or replace table anon_scratch.main.refine_groups as
select unit, block, grp from anon_scratch.main.refine_grown where taken
