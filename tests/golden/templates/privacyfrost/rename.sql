-- privacyfrost_driven, name parts: The units that were divided last, in their new classes.
create or replace table anon_scratch.main.divided_classes as
select
    d.unit, coalesce(o.class_id, d.class_id) as class_id, d.n
    , d.w0
from anon_scratch.main.divided_classes d
left join anon_scratch.main.open_classes o on o.unit = d.unit
