-- mondrian_driven_median, no final classes yet: The empty table of final classes.
create or replace table anon_scratch.main.members as
select unit, class_id from anon_scratch.main.open_units where false
