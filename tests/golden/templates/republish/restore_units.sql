-- append_only, all units again: All units again.
create or replace table anon_scratch.main.units as
select * from anon_scratch.main.all_units
