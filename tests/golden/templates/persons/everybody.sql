-- mondrian_identity_reserved, everybody: All units as one group, to be judged like any other.
create or replace table anon_scratch.main.everybody as
select cast(1 as bigint) as grp, unit
from anon_scratch.main.units
