-- mondrian_refine, moves: The moves of a round: the best of all that touch one of their two classes, so that each class is in one.
create or replace table anon_scratch.main.refine_moves as
with ranked as (
    select *, row_number() over (order by gain desc, unit) as rank from anon_scratch.main.refine_offers
),
first as (
    select class_id, min(rank) as rank
    from (select class_id, rank from ranked union all select target, rank from ranked)
    group by class_id
)
select r.unit, r.target
from ranked r
join first a on a.class_id = r.class_id and a.rank = r.rank
join first b on b.class_id = r.target and b.rank = r.rank
