-- mondrian_parts, no classes yet: The empty table of final classes.
create or replace table anon_scratch.main.members as
select unit, unit as class_id from anon_scratch.main.units where false
