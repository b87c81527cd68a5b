-- privacyfrost_driven, open classes: Every class of the best table may be divided.
create or replace table anon_scratch.main.open_classes as
select *, 0 as step
from anon_scratch.main.divided_classes
