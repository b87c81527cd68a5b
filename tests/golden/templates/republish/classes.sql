-- m_invariance, extents of classes: The extents of classes and what all their rows lose together.
create or replace table anon_scratch.main.seat_classes as
select *, width * coalesce(cast(greatest(h1 - l1, 0) as bigint), 0) as lost
from (
    select
        class_id, min(bucket) as bucket, min(width) as width
, min(c1) as c1
, min(l1) as l1, max(h1) as h1
    from anon_scratch.main.seats
    group by class_id
) c
