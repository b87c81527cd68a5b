-- m_invariance, rows after swaps: The rows in their classes after the swaps of a round.
create or replace table anon_scratch.main.seats as
with moved as (
    select r as id, b as class_id from anon_scratch.main.seat_swaps
    union all
    select q, a from anon_scratch.main.seat_swaps
)
select
    s.id, coalesce(c.bucket, s.bucket) as bucket, coalesce(m.class_id, s.class_id) as class_id,
    s.value, s.draw, coalesce(c.width, s.width) as width, s.free
    , s.l1
    , s.h1
    , s.c1
from anon_scratch.main.seats s
left join moved m on m.id = s.id
left join anon_scratch.main.seat_classes c on c.class_id = m.class_id
