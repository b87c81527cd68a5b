-- lgb_promoted_persons, swap cells of age: Cells that share a bucket with another cell of their person are swapped with cells of other buckets, chosen at random among those that leave both buckets with enough different values and different persons. Cells of equal values leave the values of their buckets as they are. Every bucket takes part in at most one swap per round.
create or replace table anon_scratch.main.owned_1 as
with crowding as (
    select row_id, draw, value, bucket, person
    from anon_scratch.main.owned_1
    qualify row_number() over (partition by bucket, person order by draw, row_id) > 1
),
total as (select count(*) as n from anon_scratch.main.owned_1),
-- 6 lines of the template, 10f267dd
    cross join anon_scratch.main.swap_turn_1 t
    cross join range(16) i(j)
    cross join total
    join anon_scratch.main.owned_1 o
        on o.seat = 1 + md5_number_lower(concat(hex(c.draw), ':seat ', t.n, ' ', i.j)) % total.n
    where o.bucket <> c.bucket and o.person <> c.person
),
known as (
    select bucket, count(*) filter (where value > 0) as n from anon_scratch.main.owned_1 group by bucket
-- 6 lines of the template, 4ce6bce5
    where ((t.value > 0) = (t.other_value > 0) or k.n > 2)
        and not exists (
            select 1 from anon_scratch.main.owned_1 x
            -- 4 lines of the template, e16afbcf
            select 1 from anon_scratch.main.owned_1 x
            -- 19 lines of the template, a3636c67
    from agreed a join anon_scratch.main.owned_1 o on o.row_id = a.other_row
    union all
    select a.other_row, o.bucket
    from agreed a join anon_scratch.main.owned_1 o on o.row_id = a.row_id
)
select p.row_id, p.draw, p.value, coalesce(m.bucket, p.bucket) as bucket, p.person, p.seat
from anon_scratch.main.owned_1 p
left join moved m on m.row_id = p.row_id
-- 1 branch as in the template, 6f37ae62
