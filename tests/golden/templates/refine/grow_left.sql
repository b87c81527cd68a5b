-- mondrian_refine_driven, units to grow by: Units that may still join a new class.
select count(*) from anon_scratch.main.refine_grown where not taken
