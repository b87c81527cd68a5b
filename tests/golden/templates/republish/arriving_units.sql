-- append_only, new units: The units without a class, if they are enough for one of their own; otherwise none.
create or replace table anon_scratch.main.units as
select *
from anon_scratch.main.all_units
where lineage = 0 and (select sum(n) from anon_scratch.main.all_units where lineage = 0) >= 2
