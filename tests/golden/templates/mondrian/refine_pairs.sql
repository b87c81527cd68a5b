-- mondrian_refine, neighbours: Units that may leave, with the classes near theirs. Pairs that cannot pay are left out, which are nearly all: the wider sets, and the loss that each row of the class already has, cost more than leaving saves.
create or replace table anon_scratch.main.refine_pairs as
with near as (
    select l.unit, l.class_id, l.n, l.saved, t.class_id as target, t.n as n_target, t.lost as lost_target, t.sets_lost
, l.w1 | t.w1 as w1
    from (
        select *, unnest(generate_series(-32, 32)) as step
        from anon_scratch.main.refine_leaving
    ) l
    join anon_scratch.main.refine_classes t on t.place = l.place + l.step
    where l.step <> 0
)
select unit, class_id, n, saved, target, n_target, lost_target
from near
cross join (select 1 as one, max(case when attribute = 3 then size end) as size3, max(case when attribute = 4 then size end) as size4 from anon_scratch.main.positions)
 d
where saved + 0.000001 > (n_target + n) * (case when cast(bit_count(w1 & 7) as integer) > 1 then (cast(bit_count(w1 & 7) as integer)) / cast(size3 as double) else 0 end + case when cast(bit_count(w1 & 56) as integer) > 1 then (cast(bit_count(w1 & 56) as integer)) / cast(size4 as double) else 0 end) - n_target * sets_lost + n * (lost_target - sets_lost)
