-- m_invariance, extents without a row: Every row with its own extent, and that of the other rows of its class.
create or replace table anon_scratch.main.seat_rest as
select *, coalesce(cast(greatest(gh1 - gl1, 0) as bigint), 0) as each
from (
    select
        p.class_id, p.id, min(p.value) as value, min(p.width) as width, bool_or(p.free) as free
, min(p.l1) as l1, min(o.l1) as gl1, min(p.h1) as h1, max(o.h1) as gh1
    from anon_scratch.main.seats p
    join anon_scratch.main.seats o on o.class_id = p.class_id and o.id <> p.id
    group by p.class_id, p.id
) r
