-- mondrian_dealt_driven, classes dealt: The new class of every unit that has one.
create or replace table anon_scratch.main.deal_groups as
select unit, grp from anon_scratch.main.deal_grown where taken
