-- m_invariance, offers to near classes: The best swap of every pair of near classes, if it saves something: row r of class a against row q of class b. Both have the same value, so that all signatures stay; between buckets only free rows are swapped. Offers of pairs that the last swaps did not touch are kept.
create or replace table anon_scratch.main.seat_offers as
with changed as (
    select a as class_id from anon_scratch.main.seat_swaps union select b from anon_scratch.main.seat_swaps
),
pairs as (
    select p.a, p.b, x.lost + y.lost as lost, x.bucket = y.bucket as same
    from anon_scratch.main.seat_near p
    join anon_scratch.main.seat_classes x on x.class_id = p.a
    join anon_scratch.main.seat_classes y on y.class_id = p.b
    where x.lost + y.lost > 0
    and (p.a in (select class_id from changed) or p.b in (select class_id from changed))
),
paired as (
    select
        p.a, p.b, r.id as r, q.id as q, p.lost, r.width, q.width as width_b
, least(r.gl1, q.l1) as al1, least(q.gl1, r.l1) as bl1, greatest(r.gh1, q.h1) as ah1, greatest(q.gh1, r.h1) as bh1
    from pairs p
    join anon_scratch.main.seat_rest r on r.class_id = p.a
    join anon_scratch.main.seat_rest q on q.class_id = p.b and q.value = r.value and (p.same or (q.free and r.free))
    -- a class loses at least what its other rows lose
    where r.width * r.each + q.width * q.each < p.lost
),
weighed as (
    select
        a, b, r, q,
        lost - width * coalesce(cast(greatest(ah1 - al1, 0) as bigint), 0) - width_b * coalesce(cast(greatest(bh1 - bl1, 0) as bigint), 0) as gain
    from paired
),
ranked as (
    select *, row_number() over (partition by a, b order by gain desc, r, q) as choice
    from weighed
    where gain > 0
)
select a, b, r, q, gain from ranked where choice = 1
union all
select a, b, r, q, gain
from anon_scratch.main.seat_offers
where a not in (select class_id from changed) and b not in (select class_id from changed)
