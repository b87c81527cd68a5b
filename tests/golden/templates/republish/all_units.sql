-- append_only, all units: All units, put aside while the new ones are partitioned.
create or replace table anon_scratch.main.all_units as
select * from anon_scratch.main.units
